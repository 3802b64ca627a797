import DefaultTheme from 'vitepress/theme';
import './style.css';

/**
 * A group of the menu is a button. The theme puts another one into it, which does the same, and
 * which a screen reader can't make out.
 */
function leaveOneButton() {
  for (const caret of document.querySelectorAll('.VPSidebarItem .caret')) {
    for (const name of ['role', 'tabindex', 'aria-label']) caret.removeAttribute(name);
  }
}

export default {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    // The pages are rendered once without a browser.
    if (import.meta.env.SSR) return;
    router.onAfterPageLoad = () => requestAnimationFrame(leaveOneButton);
    router.onAfterRouteChange = router.onAfterPageLoad;
  },
};
