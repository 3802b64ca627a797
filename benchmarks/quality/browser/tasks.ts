import type { Driver } from './driver.js';
import type { Site } from './site.js';

/** What a task has beside its driver. */
export interface World {
  site: Site;
  /** A file that may be given away, and its text. */
  file: { path: string; text: string };
}

export interface Task {
  name: string;
  run(driver: Driver, world: World): Promise<boolean>;
}

/** A task that opens one page, does something, and looks what the page says then. */
function says(
  name: string,
  path: string,
  { does, shows }: { does: (driver: Driver, world: World) => Promise<void>; shows: string },
): Task {
  return {
    name,
    async run(driver, world) {
      await driver.open(`${world.site.origin}${path}`);
      await does(driver, world);
      return driver.says(shows);
    },
  };
}

/** A task after which the server must have got this. */
function sends(
  name: string,
  path: string,
  { does, shows }: { does: (driver: Driver, world: World) => Promise<void>; shows: RegExp },
): Task {
  return {
    name,
    async run(driver, world) {
      await driver.open(`${world.site.origin}${path}`);
      await does(driver, world);
      return (await driver.says('it was received')) && shows.test(world.site.sent.at(-1) ?? '');
    },
  };
}

export const TASKS: Task[] = [
  sends('fill in a form field by field, and send it', '/contact', {
    async does(driver) {
      await driver.type('textbox "Name"', 'Ada');
      await driver.type('textbox "Mail"', 'ada@example.com');
      await driver.type('textbox "Message"', 'Hello');
      await driver.click('button "Send"');
    },
    shows: /^name=Ada&mail=ada%40example.com&message=Hello$/,
  }),
  sends('fill in nine fields in one call', '/order', {
    async does(driver) {
      await driver.fill([
        { element: 'textbox "Street"', kind: 'textbox', value: '1 Road' },
        { element: 'textbox "City"', kind: 'textbox', value: 'Oslo' },
        { element: 'textbox "Zip"', kind: 'textbox', value: '0150' },
        { element: 'combobox "Country"', kind: 'combobox', value: 'Norway' },
        { element: 'checkbox "Gift wrap"', kind: 'checkbox', value: 'true' },
        { element: 'radio "Express"', kind: 'radio', value: 'true' },
        { element: 'slider "Quantity"', kind: 'slider', value: '4' },
        { element: 'textbox "Day"', kind: 'textbox', value: '2027-03-04' },
      ]);
      await driver.click('button "Place order"');
    },
    shows:
      /^street=1\+Road&city=Oslo&zip=0150&country=Norway&gift=on&ship=fast&quantity=4&day=2027-03-04$/,
  }),
  sends('search with Enter', '/search', {
    does: (driver) => driver.type('searchbox "Query"', 'red shoes', { submit: true }),
    shows: /^\?q=red\+shoes$/,
  }),
  says('type key by key, and choose what is suggested', '/suggest', {
    async does(driver) {
      await driver.type('textbox "City"', 'vil', { keys: true });
      await driver.click('option "Vilnius"');
    },
    shows: 'chosen Vilnius',
  }),
  says('read an alert, and go on', '/alert', {
    async does(driver) {
      await driver.click('button "Save draft"');
      if (!(await driver.says('Saved as draft 7'))) throw new Error('the alert is not told');
      await driver.acknowledge();
    },
    shows: 'after the alert',
  }),
  says('accept a question', '/confirm', {
    async does(driver) {
      await driver.click('button "Delete"');
      if (!(await driver.says('Delete order 12?'))) throw new Error('the question is not told');
      await driver.answer(true);
    },
    shows: 'deleted',
  }),
  says('dismiss a question', '/confirm', {
    async does(driver) {
      await driver.click('button "Delete"');
      await driver.answer(false);
    },
    shows: 'kept',
  }),
  says('answer a prompt', '/prompt', {
    async does(driver) {
      await driver.click('button "Rename"');
      await driver.answer(true, 'budget');
    },
    shows: 'renamed to budget',
  }),
  says('answer two questions in a row, differently', '/two-dialogs', {
    async does(driver) {
      await driver.click('button "Ask"');
      await driver.answer(true);
      await driver.answer(false);
    },
    shows: '1-0',
  }),
  says('answer a question that comes late', '/late-dialog', {
    async does(driver) {
      await driver.click('button "Begin"');
      await driver.answer(true);
    },
    shows: 'here',
  }),
  says('drag a card to another list', '/drag', {
    does: (driver) => driver.drag('beta', 'omega'),
    shows: 'done: omega beta',
  }),
  says('drag with the mouse alone', '/slide', {
    does: (driver) => driver.drag('button "Piece"', 'button "Hole"'),
    shows: 'solved',
  }),
  says('open a menu by hovering, and choose from it', '/menu', {
    async does(driver) {
      await driver.hover('button "File"');
      await driver.click('button "Export all"');
    },
    shows: 'exported',
  }),
  says('read a hint that hovering shows', '/tooltip', {
    does: (driver) => driver.hover('button "Plan B"'),
    shows: 'Costs 12 euros a month',
  }),
  {
    name: 'follow a link into a tab, read it, close the tab',
    async run(driver, { site }) {
      await driver.open(`${site.origin}/links`);
      await driver.click('link "Details in a tab"');
      await driver.toNewTab();
      const isThere = await driver.says('Serial 8812-X');
      await driver.closeTab(2);
      return isThere && (await driver.says('Details in a tab'));
    },
  },
  {
    name: 'compare two pages in two tabs',
    async run(driver, { site }) {
      await driver.open(`${site.origin}/detail`);
      await driver.open(`${site.origin}/confirm`, true);
      const second = await driver.says('button "Delete"');
      await driver.tab(1);
      const first = await driver.says('Serial 8812-X');
      await driver.closeTab(2);
      return first && second;
    },
  },
  says('pay in a frame', '/frame', {
    async does(driver) {
      await driver.type('textbox "Card"', '4000');
      await driver.click('button "Pay now"');
    },
    shows: 'paid with 4000',
  }),
  says('press a button in a frame of a frame', '/frames', {
    does: (driver) => driver.click('button "Press deep"'),
    shows: 'button "2"',
  }),
  says('fill in a form in a shadow tree', '/shadow', {
    async does(driver) {
      await driver.type('textbox "Nick"', 'ada');
      await driver.click('button "Join"');
    },
    shows: 'joined as ada',
  }),
  says('upload a file by a field', '/upload', {
    does: (driver, { file }) => driver.upload('button "File"', file.path),
    shows: 'got the notes',
  }),
  says('upload a file by a button', '/pick', {
    does: (driver, { file }) => driver.upload('button "Choose a file"', file.path),
    shows: 'picked the notes',
  }),
  says('upload a file by dropping it', '/drop', {
    does: (driver, { file }) => driver.drop('Drop files here', file.path),
    shows: 'dropped the notes',
  }),
  {
    name: 'download a file',
    async run(driver, { site }) {
      await driver.open(`${site.origin}/downloads`);
      return (await driver.download('link "Quarterly report"')) === 'quarter,sum\n1,4200\n';
    },
  },
  says('read a cell of a table', '/table', { does: async () => {}, shows: '"Item 33"' }),
  says('sort a table', '/sort', {
    does: (driver) => driver.click('button "Price"'),
    shows: 'Item 13',
  }),
  says('put one of sixty things into the cart', '/shop', {
    does: (driver) => driver.click('button "Add Item 47"'),
    shows: 'Item 47 is in the cart',
  }),
  {
    name: 'find one thing on a long page, and use it',
    async run(driver, { site }) {
      await driver.open(`${site.origin}/shop`);
      const lines = await driver.find('Item 52');
      await driver.click('button "Add Item 52"');
      return lines.includes('Add Item 52') && (await driver.says('Item 52 is in the cart'));
    },
  },
  says('load more of a list, three times', '/endless', {
    async does(driver) {
      for (let time = 0; time < 3; time += 1) await driver.click('button "Load more"');
    },
    shows: 'Post 60',
  }),
  says('go through the views of an app, and set something', '/spa', {
    async does(driver) {
      await driver.click('link "Inbox"');
      if (!(await driver.says('3 unread messages'))) throw new Error('the inbox is not shown');
      await driver.click('link "Settings"');
      await driver.click('checkbox "Dark mode"');
    },
    shows: 'dark is on',
  }),
  says('wait for what comes late', '/late', {
    async does(driver) {
      await driver.click('button "Make report"');
      await driver.waitFor('Report is ready');
    },
    shows: 'Report is ready',
  }),
  {
    name: 'read an error in the console',
    async run(driver, { site }) {
      await driver.open(`${site.origin}/console`);
      await driver.click('button "Check"');
      return (await driver.console()).includes('E42: no stock');
    },
  },
  {
    name: 'see what a button asks of the server',
    async run(driver, { site }) {
      await driver.open(`${site.origin}/network`);
      await driver.click('button "Load orders"');
      return (await driver.network('/api/')).includes('/api/orders');
    },
  },
  {
    name: 'read what the server answered',
    async run(driver, { site }) {
      await driver.open(`${site.origin}/network`);
      await driver.click('button "Load orders"');
      return (await driver.answerOf('/api/')).includes('A-1017');
    },
  },
  says('press keys together', '/keys', {
    async does(driver) {
      await driver.click('textbox "Field"');
      await driver.press('Control+s');
    },
    shows: 'saved by key',
  }),
  says('click with the right button', '/context', {
    does: (driver) => driver.click('notes.md', { right: true }),
    shows: 'menu is open',
  }),
  says('click twice', '/context', {
    does: (driver) => driver.click('notes.md', { double: true }),
    shows: 'renaming',
  }),
  says('click with a key held', '/control', {
    does: (driver) => driver.click('two', { control: true }),
    shows: 'two added',
  }),
  says('choose several options', '/multi', {
    does: (driver) => driver.select('listbox "Sizes"', ['M', 'XL']),
    shows: 'M+XL',
  }),
  says('unfold an answer', '/details', {
    does: (driver) => driver.click('How do I return goods?'),
    shows: 'form R-9',
  }),
  says('agree in a dialog of the page', '/modal', {
    async does(driver) {
      await driver.click('button "Open terms"');
      await driver.click('button "I agree"');
    },
    shows: 'accepted',
  }),
  {
    name: 'read a variable of the page by a script',
    async run(driver, { site }) {
      await driver.open(`${site.origin}/canvas`);
      return (await driver.evaluate('() => window.total')).includes('1234');
    },
  },
  {
    name: 'take a picture of what is drawn',
    async run(driver, { site }) {
      await driver.open(`${site.origin}/canvas`);
      return driver.screenshot();
    },
  },
  {
    name: 'save a page as PDF',
    async run(driver, { site }) {
      await driver.open(`${site.origin}/table`);
      return (await driver.save('pdf')).startsWith('%PDF-');
    },
  },
  {
    name: 'save a page as a picture',
    async run(driver, { site }) {
      await driver.open(`${site.origin}/table`);
      return (await driver.save('png')).includes('PNG');
    },
  },
  says('write into an editor', '/edit', {
    does: (driver) => driver.type('textbox "Note"', 'twelve chars'),
    shows: '12 characters',
  }),
  says('go through a wizard', '/wizard', {
    async does(driver) {
      await driver.type('textbox "First name"', 'Ada');
      await driver.click('button "Next"');
      await driver.type('textbox "Last name"', 'King');
      await driver.click('button "Next"');
      await driver.click('button "Finish"');
    },
    shows: 'Hello Ada King',
  }),
  {
    name: 'follow a link, and go back',
    async run(driver, { site }) {
      await driver.open(`${site.origin}/confirm`);
      await driver.open(`${site.origin}/detail`);
      await driver.back();
      return driver.says('button "Delete"');
    },
  },
];
