/** Lets a test hold something until it calls `open`. */
export interface Gate {
  /** Resolves after `open` is called. */
  opened: Promise<void>;
  open: () => void;
}

export function createGate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
