import { library } from '../../tsup.base.ts';

export default library(['src/index.ts', 'src/html-thread.ts']);
