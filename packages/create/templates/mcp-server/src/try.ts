import { connect } from './connect.js';

// One call that is allowed, and one that is refused.
const client = await connect();
for (const path of ['workspace/hello.txt', 'package.json']) {
  const { content } = await client.callTool({ name: 'count_words', arguments: { path } });
  console.log(path, content);
}
await client.close();
