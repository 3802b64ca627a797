import type { StorageChange } from '@ethosagent/types';

/**
 * Runs an operation that calls `announce` before it changes anything. Only the first call reaches
 * `beforeChange`. If `beforeChange` throws, its error is thrown unchanged, whatever the operation
 * did with it.
 */
export async function announced(
  opts: StorageChange | undefined,
  operation: (announce: () => void) => Promise<void>,
): Promise<void> {
  let isAnnounced = false;
  let refusal: { readonly error: unknown } | undefined;
  const announce = () => {
    if (isAnnounced) return;
    isAnnounced = true;
    try {
      opts?.beforeChange?.();
    } catch (error) {
      refusal = { error };
      throw error;
    }
  };
  try {
    await operation(announce);
  } catch (error) {
    throw refusal === undefined ? error : refusal.error;
  }
}
