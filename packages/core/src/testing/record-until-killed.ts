// Records until it is killed. Each recorded event is then acknowledged by a line in another file,
// which is written at once, so that a kill can't hold it back.
import { openSync, writeSync } from 'node:fs';
import { JsonlAuditSink } from '../audit/jsonl-audit-sink.js';
import { auditEvent } from './audit-event.js';

const [path = '', id = '', acknowledged = '', maxBytes, maxFiles] = process.argv.slice(2);
const sink = new JsonlAuditSink({
  path,
  maxBytes: Number(maxBytes),
  maxFiles: Number(maxFiles),
});
const acknowledgements = openSync(acknowledged, 'a');
for (let index = 0; ; index++) {
  const target = `${id}:${index}`;
  sink.record(auditEvent(`${target}:${'x'.repeat((index % 7) * 500)}`));
  writeSync(acknowledgements, `${target}\n`);
}
