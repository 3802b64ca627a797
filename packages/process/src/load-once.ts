/** Loads once, when it is first needed. Even to look up a module that is loaded takes its time. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => (loading ??= load());
}
