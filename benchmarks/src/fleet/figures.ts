export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** @param share 0.95 for the 95th percentile */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
