import { library } from '../../tsup.base.ts';

export default library([
  'src/index.ts',
  'src/agent/index.ts',
  'src/record/index.ts',
  'src/stores/index.ts',
]);
