import { library } from '../../tsup.base.ts';

export default library([
  'src/index.ts',
  'src/attacks/index.ts',
  'src/contained/index.ts',
  'src/fuzz/index.ts',
]);
