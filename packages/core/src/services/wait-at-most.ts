/** Waits until something has succeeded or failed, but no longer than `maxMs`. Never rejects. */
export async function waitAtMost(done: Promise<unknown>, maxMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, maxMs);
  });
  await Promise.race([done.catch(() => {}), late]);
  clearTimeout(timer);
}
