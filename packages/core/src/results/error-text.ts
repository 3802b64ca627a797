export { errorText } from '@ethosagent/policy';
