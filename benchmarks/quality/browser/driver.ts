/** Does the tasks with its own tools, and counts the tokens that a model would have read. */
export interface Driver {
  readonly name: string;
  /** Opens a page of the site, in a new tab where that is asked for. */
  open(url: string, newTab?: boolean): Promise<void>;
  /** The ref of an element, by its role and name as they stand in a snapshot. */
  ref(element: string): Promise<string>;
  click(
    element: string,
    how?: { double?: boolean; right?: boolean; control?: boolean },
  ): Promise<void>;
  type(element: string, text: string, how?: { submit?: boolean; keys?: boolean }): Promise<void>;
  fill(fields: readonly Field[]): Promise<void>;
  select(element: string, values: string[]): Promise<void>;
  press(key: string): Promise<void>;
  hover(element: string): Promise<void>;
  drag(from: string, to: string): Promise<void>;
  answer(accept: boolean, text?: string): Promise<void>;
  /** Closes an alert that is open. */
  acknowledge(): Promise<void>;
  upload(element: string, path: string): Promise<void>;
  drop(element: string, path: string): Promise<void>;
  /** Clicks what gives a file; the text of the file. */
  download(element: string): Promise<string>;
  evaluate(script: string): Promise<string>;
  tab(number: number): Promise<void>;
  /** Goes to the tab that a click has opened. */
  toNewTab(): Promise<void>;
  closeTab(number: number): Promise<void>;
  back(): Promise<void>;
  waitFor(text: string): Promise<void>;
  console(): Promise<string>;
  network(filter: string): Promise<string>;
  /** The text that a request was answered with. */
  answerOf(filter: string): Promise<string>;
  /** The first bytes of the page, saved as this. */
  save(ending: 'pdf' | 'png'): Promise<string>;
  screenshot(): Promise<boolean>;
  /** The lines about a text, without the whole page. */
  find(text: string): Promise<string>;
  /** The page as the last answers tell it; asks for it where they don't. */
  page(): Promise<string>;
  /** Whether the page says this, looked up as cheaply as the last answers allow. */
  says(text: string): Promise<boolean>;
  /** Resets the counts. */
  begin(): void;
  /** What was counted. */
  count(): { calls: number; tokens: number; ms: number };
  close(): Promise<void>;
}

export interface Field {
  element: string;
  kind: 'textbox' | 'checkbox' | 'radio' | 'combobox' | 'slider';
  value: string;
}

/** Counts calls, their time, and the tokens of their arguments and answers. */
export class Meter {
  #calls = 0;
  #tokens = 0;
  #ms = 0;
  readonly #tokensOf: (text: string) => number;

  constructor(tokensOf: (text: string) => number) {
    this.#tokensOf = tokensOf;
  }

  async call(
    name: string,
    args: unknown,
    run: () => Promise<{ text: string; isError: boolean }>,
  ): Promise<string> {
    const begun = performance.now();
    const { text, isError } = await run();
    this.#ms += performance.now() - begun;
    this.#calls += 1;
    this.#tokens += this.#tokensOf(text) + this.#tokensOf(JSON.stringify({ name, args }));
    if (isError) throw new Error(`${name} ${JSON.stringify(args)}: ${text}`);
    return text;
  }

  begin(): void {
    this.#calls = 0;
    this.#tokens = 0;
    this.#ms = 0;
  }

  count() {
    return { calls: this.#calls, tokens: this.#tokens, ms: this.#ms };
  }
}
