import type { HostSet } from '@ethosagent/policy';
import type { SecretRef } from '@ethosagent/types';

/** A secret that a call may send but not read. */
export interface Handle {
  readonly ref: SecretRef;
  /** The text that the tool gets instead of the value. */
  readonly placeholder: string;
  /** The hosts to which the value may be sent. */
  readonly hosts: HostSet;
}
