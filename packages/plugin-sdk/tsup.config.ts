import { library } from '../../tsup.base.ts';

export default library(['src/index.ts', 'src/tool-helpers/index.ts', 'src/testing/index.ts']);
