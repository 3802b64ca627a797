import type { ToolContext } from '@ethosagent/types';

const LONG_BYTES = 512 * 1024;
const STEP_BYTES = 1024 * 1024;
const STEP_PERCENT = 10;

/** Reports a long download: each tenth of it, or each megabyte when its length is unknown. */
export function downloadProgress(
  toolName: string,
  host: string,
  emit: ToolContext['emit'],
): (bytes: number, total: number | undefined) => void {
  let lastStep = 0;
  return (bytes, total) => {
    const isShort = total === undefined ? bytes < STEP_BYTES : total < LONG_BYTES;
    if (isShort) return;
    const percent =
      total === undefined ? undefined : Math.min(100, Math.floor((bytes / total) * 100));
    const step = Math.floor(percent === undefined ? bytes / STEP_BYTES : percent / STEP_PERCENT);
    if (step === lastStep) return;
    lastStep = step;
    const message = `downloading from ${host} (${(bytes / STEP_BYTES).toFixed(1)} MB)`;
    emit({
      type: 'progress',
      toolName,
      message,
      audience: 'user',
      ...(percent !== undefined && { percent }),
    });
  };
}
