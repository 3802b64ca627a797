import type { StorageChange } from '@ethosagent/types';

/**
 * Runs an operation that is to call `announce` before it changes anything. Only the first call
 * reaches `beforeChange`, and what that throws is thrown on as it is, whatever the operation made
 * of it.
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
