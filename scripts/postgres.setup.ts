// The tests of a run share one PostgreSQL, each with a database of its own.
export { serveDatabases as setup } from '@ethosagent/test-support';
