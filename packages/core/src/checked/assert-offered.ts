import { EthosError } from '@ethosagent/types';

/** Gives a method that a storage need not have. @throws `STORAGE_FAILED` when it has none */
export function assertOffered<T>(method: T | undefined, name: string): T {
  if (method !== undefined) return method;
  throw new EthosError('STORAGE_FAILED', `the storage behind this tool does not offer ${name}`);
}
