const NAV = `<header><nav aria-label="Main"><ul>${[
  'Home',
  'Products',
  'Orders',
  'Support',
  'Account',
]
  .map((name) => `<li><a href="/${name.toLowerCase()}">${name}</a></li>`)
  .join('')}</ul></nav></header>`;
const FOOT =
  '<footer><p>Example Ltd, 1 Main Street</p><a href="/imprint">Imprint</a> <a href="/privacy">Privacy</a></footer>';

/** A page as a shop has them: a header, its own content, a footer. */
function page(title: string, content: string): string {
  return `<!doctype html><html lang=en><title>${title}</title>${NAV}<main><h1>${title}</h1>${content}</main>${FOOT}</html>`;
}

const GOODS = Array.from({ length: 60 }, (_, n) => ({
  name: `Item ${String(n + 1).padStart(2, '0')}`,
  price: 5 + ((n * 37) % 90),
}));
const say = (text: string) => `document.getElementById('out').textContent = ${text}`;
const OUT = '<p id=out role=status></p>';

export const PAGES: Record<string, string> = {
  '/contact': page(
    'Contact',
    `<form action=/sent method=post><label>Name <input name=name></label><label>Mail <input name=mail type=email></label>
    <label>Message <textarea name=message></textarea></label><button>Send</button></form>`,
  ),
  '/order': page(
    'Order',
    `<form action=/sent method=post><label>Street <input name=street></label><label>City <input name=city></label><label>Zip <input name=zip></label>
    <label>Country <select name=country><option>Austria<option>France<option>Norway</select></label>
    <label><input type=checkbox name=gift> Gift wrap</label><label><input type=radio name=ship value=slow> Standard</label><label><input type=radio name=ship value=fast> Express</label>
    <label>Quantity <input type=range name=quantity min=1 max=10 value=1></label><label>Day <input type=date name=day></label><button>Place order</button></form>`,
  ),
  '/search': page(
    'Search',
    `<form action=/sent><label>Query <input type=search name=q></label></form>`,
  ),
  '/suggest': page(
    'Suggest',
    `<label>City <input id=c autocomplete=off onkeyup="l.innerHTML = ['Vienna','Vilnius','Valencia'].filter(x => this.value && x.toLowerCase().startsWith(this.value.toLowerCase())).map(x => '<li role=option>' + x + '</li>').join('')"></label><ul id=l role=listbox onclick="c.value = event.target.textContent; l.innerHTML = ''; ${say("'chosen ' + c.value")}"></ul>${OUT}`,
  ),
  '/alert': page(
    'Alert',
    `<button onclick="alert('Saved as draft 7'); ${say("'after the alert'")}">Save draft</button>${OUT}`,
  ),
  '/confirm': page(
    'Confirm',
    `<button onclick="${say("confirm('Delete order 12?') ? 'deleted' : 'kept'")}">Delete</button>${OUT}`,
  ),
  '/prompt': page(
    'Prompt',
    `<button onclick="${say("'renamed to ' + prompt('New name?', 'untitled')")}">Rename</button>${OUT}`,
  ),
  '/two-dialogs': page(
    'Two questions',
    `<button onclick="${say("(confirm('First?') ? 1 : 0) + '-' + (confirm('Second?') ? 1 : 0)")}">Ask</button>${OUT}`,
  ),
  '/late-dialog': page(
    'Late question',
    `<button onclick="setTimeout(() => { ${say("confirm('Still there?') ? 'here' : 'gone'")} }, 30)">Begin</button>${OUT}`,
  ),
  '/drag': page(
    'Board',
    `<h2>To do</h2><ul id=a ondragover="event.preventDefault()" ondrop="this.append(document.getElementById(event.dataTransfer.getData('text')))">${['alpha', 'beta', 'gamma'].map((n) => `<li draggable=true id=${n} ondragstart="event.dataTransfer.setData('text', this.id)">${n}</li>`).join('')}</ul>
    <h2>Done</h2><ul id=b ondragover="event.preventDefault()" ondrop="this.append(document.getElementById(event.dataTransfer.getData('text'))); ${say("'done: ' + this.innerText.split('\\n').join(' ')")}"><li>omega</li></ul>${OUT}`,
  ),
  '/slide': page(
    'Puzzle',
    `<div style="position:relative;height:120px"><button id=k style="position:absolute;left:0;top:40px;width:60px">Piece</button><button id=t style="position:absolute;left:400px;top:40px;width:60px">Hole</button></div>${OUT}
    <script>let held; k.onmousedown = () => held = true; addEventListener('mousemove', e => { if (held) k.style.left = (e.clientX - 80) + 'px' }); addEventListener('mouseup', e => { if (held && Math.abs(e.clientX - t.getBoundingClientRect().x) < 80) ${say("'solved'")}; held = false })</script>`,
  ),
  '/menu': page(
    'Menu',
    `<style>#m div{display:none} #m:hover div{display:block}</style><div id=m><button>File</button><div><button onclick="${say("'exported'")}">Export all</button></div></div>${OUT}`,
  ),
  '/tooltip': page(
    'Hints',
    `<button onmouseenter="${say("'Costs 12 euros a month'")}" onmouseleave="${say("''")}">Plan B</button>${OUT}`,
  ),
  '/links': page('Links', `<p><a href="/detail" target=_blank>Details in a tab</a></p>${OUT}`),
  '/detail': page(
    'Detail',
    `<p>Serial 8812-X</p><button onclick="window.close()">Close me</button>`,
  ),
  '/frame': page('Frame', `<iframe title=Pay src="/pay"></iframe>`),
  '/pay': `<title>Pay</title><label>Card <input id=n></label><button onclick="o.textContent = 'paid with ' + n.value">Pay now</button><p id=o></p>`,
  '/frames': page(
    'Deep',
    `<iframe title=Outer srcdoc="<p>outer</p><iframe title=Inner srcdoc='<button onclick=&quot;this.textContent=1+1&quot;>Press deep</button>'></iframe>"></iframe>`,
  ),
  '/shadow': page(
    'Shadow',
    `<x-card></x-card><script>customElements.define('x-card', class extends HTMLElement { connectedCallback() { const r = this.attachShadow({mode: 'open'}); r.innerHTML = '<label>Nick <input></label><button>Join</button><p></p>'; r.querySelector('button').onclick = () => r.querySelector('p').textContent = 'joined as ' + r.querySelector('input').value } })</script>`,
  ),
  '/upload': page(
    'Upload',
    `<label>File <input type=file onchange="this.files[0].text().then(t => { ${say("'got ' + t")} })"></label>${OUT}`,
  ),
  '/pick': page(
    'Pick',
    `<input type=file id=f hidden onchange="this.files[0].text().then(t => { ${say("'picked ' + t")} })"><button onclick="f.click()">Choose a file</button>${OUT}`,
  ),
  '/drop': page(
    'Drop',
    `<div id=z style="border:1px dashed;padding:40px" ondragover="event.preventDefault()" ondrop="event.preventDefault(); event.dataTransfer.files[0].text().then(t => { ${say("'dropped ' + t")} })">Drop files here</div>${OUT}`,
  ),
  '/table': page(
    'Stock',
    `<table><thead><tr><th>Item<th>Price<th>Left</thead><tbody>${GOODS.slice(0, 40)
      .map(({ name, price }, n) => `<tr><td>${name}<td>${price}<td>${(n * 13) % 50}`)
      .join('')}</tbody></table>`,
  ),
  '/sort': page(
    'Prices',
    `<table><thead><tr><th><button onclick="const b = document.querySelector('tbody'); [...b.rows].sort((x, y) => x.cells[1].textContent - y.cells[1].textContent).forEach(r => b.append(r))">Price</button></thead><tbody>${GOODS.slice(
      0,
      20,
    )
      .map(({ name, price }) => `<tr><td>${name}<td>${price}`)
      .join('')}</tbody></table>`,
  ),
  '/shop': page(
    'Shop',
    `<ul>${GOODS.map(({ name, price }) => `<li><h3>${name}</h3><p>${price} euros</p><button onclick="n.textContent = 1 + +n.textContent; ${say(`'${name} is in the cart'`)}">Add ${name}</button></li>`).join('')}</ul><p>Cart: <b id=n>0</b></p>${OUT}`,
  ),
  '/endless': page(
    'Feed',
    `<div id=l></div><script>let n = 0; const more = () => { for (let i = 0; i < 15; i++) l.insertAdjacentHTML('beforeend', '<p>Post ' + (++n) + '</p>') }; more()</script><button onclick="more()">Load more</button>`,
  ),
  '/spa': page(
    'App',
    `<nav aria-label=Views><a href="/spa/inbox" onclick="return go(this)">Inbox</a><a href="/spa/settings" onclick="return go(this)">Settings</a></nav><section id=v aria-label=View><p>Welcome</p></section>
    <script>const views = { Inbox: '<p>3 unread messages</p>', Settings: '<label><input type=checkbox onchange="o.textContent = this.checked ? \\'dark is on\\' : \\'\\'"> Dark mode</label><p id=o></p>' };
    function go(a) { history.pushState({}, '', a.href); document.title = a.textContent; setTimeout(() => { v.innerHTML = views[a.textContent] }, 20); return false }</script>`,
  ),
  '/late': page(
    'Report',
    `<button onclick="setTimeout(() => { ${say("'Report is ready'")} }, 900)">Make report</button>${OUT}`,
  ),
  '/downloads': page('Files', `<a href="/report.txt">Quarterly report</a>`),
  '/console': page(
    'Console',
    `<button onclick="console.error('E42: no stock'); ${say("'failed'")}">Check</button>${OUT}`,
  ),
  '/network': page(
    'Orders',
    `<button onclick="fetch('/api/orders?token=s3cr3t-v4lue').then(() => { ${say("'loaded'")} })">Load orders</button>${OUT}`,
  ),
  '/keys': page(
    'Keys',
    `<input aria-label=Field onkeydown="if (event.key === 's' && event.ctrlKey) { event.preventDefault(); ${say("'saved by key'")} }">${OUT}`,
  ),
  '/context': page(
    'Files',
    `<p oncontextmenu="event.preventDefault(); ${say("'menu is open'")}" ondblclick="${say("'renaming'")}">notes.md</p>${OUT}`,
  ),
  '/control': page(
    'Pick many',
    `<ul onclick="if (event.ctrlKey) { event.target.ariaSelected = 'true'; ${say("event.target.textContent + ' added'")} }"><li>one</li><li>two</li></ul>${OUT}`,
  ),
  '/multi': page(
    'Options',
    `<label>Sizes <select multiple onchange="${say("[...this.selectedOptions].map(o => o.value).join('+')")}"><option>S<option>M<option>L<option>XL</select></label>${OUT}`,
  ),
  '/details': page(
    'Help',
    `<details><summary>How do I return goods?</summary><p>Within 30 days, with form R-9.</p></details>`,
  ),
  '/modal': page(
    'Modal',
    `<button onclick="d.showModal()">Open terms</button><dialog id=d><h2>Terms</h2><button onclick="d.close(); ${say("'accepted'")}">I agree</button></dialog>${OUT}`,
  ),
  '/canvas': page(
    'Total',
    `<canvas width=200 height=60></canvas><script>window.total = 1234; const c = document.querySelector('canvas').getContext('2d'); c.font = '30px sans-serif'; c.fillText('1234', 10, 40)</script>`,
  ),
  '/edit': page(
    'Note',
    `<div contenteditable aria-label=Note role=textbox oninput="${say("this.innerText.length + ' characters'")}"></div>${OUT}`,
  ),
  '/wizard': page(
    'Wizard',
    `<section id=s></section><script>const steps = ['<label>First name <input id=f></label><button onclick="first = f.value; show(1)">Next</button>', '<label>Last name <input id=g></label><button onclick="last = g.value; show(2)">Next</button>', '<button onclick="done()">Finish</button>']; let first, last; const show = n => { s.innerHTML = steps[n] }; const done = () => { s.innerHTML = '<p>Hello ' + first + ' ' + last + '</p>' }; show(0)</script>`,
  ),
};
