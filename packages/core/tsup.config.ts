import { library } from '../../tsup.base.ts';

export default library([
  'src/index.ts',
  'src/capabilities/compare/index.ts',
  'src/scoped/index.ts',
]);
