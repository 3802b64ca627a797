import type { HostSet } from '@ethosagent/policy';
import type { SecretRef } from '@ethosagent/types';

/** A secret that a call may send, but not see. */
export interface Handle {
  readonly ref: SecretRef;
  /** What the tool has instead of the value. */
  readonly placeholder: string;
  /** Where the value may go. */
  readonly hosts: HostSet;
}
