export { discard, unawaited } from '@ethosagent/policy';
