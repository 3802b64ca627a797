import { EthosError } from '@ethosagent/types';

export function ownerMismatch(): EthosError {
  return new EthosError(
    'SESSION_OWNER_MISMATCH',
    'the session belongs to another owner; give the session another id',
  );
}
