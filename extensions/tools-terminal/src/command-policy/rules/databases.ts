import { isUnknown } from '../marked-text.js';
import { operandsOf } from '../options.js';
import type { SimpleCommand } from '../simple-command.js';
import { ask, type BuiltInRule } from './rule.js';

/** The words of a database client that are statements. */
interface Client {
  names: RegExp;
  /** Matches options whose value is a statement. */
  options: RegExp;
  /** The index of the first operand that is a statement. All after it are, too. */
  from?: number;
}

const CLIENTS: readonly Client[] = [
  {
    names: /^(psql|pgcli|cockroach|yb-?ysqlsh|ysqlsh|gsql|vsql)$/,
    options: /^(-c|-[a-zA-Z]*c|--command|-e|--execute)$/,
  },
  { names: /^(mysql|mariadb|mycli|mysqlsh|tidb)$/, options: /^(-e|-[a-zA-Z]*e|--execute|--sql)$/ },
  {
    names: /^(sqlite3?|litecli|sqlcipher|libsql|turso|duckdb)$/,
    options: /^(-cmd|--cmd|-c|-s)$/,
    from: 1,
  },
  {
    names: /^(clickhouse|clickhouse-client|clickhouse-local|chdb)$/,
    options: /^(-q|-[a-zA-Z]*q|--query)$/,
  },
  { names: /^(sqlcmd|osql|mssql-cli|isql|bsqldb)$/, options: /^-[qQ]$/ },
  {
    names: /^(cqlsh|trino|presto|snowsql|beeline|hive|impala-shell|usql|influx|mclient)$/,
    options: /^(-e|-q|-c|--execute|--query|--command)$/,
    from: 0,
  },
  {
    names: /^(bq|spark-sql|dolt|steampipe|surreal|rqlite|pgbench|wrangler|supabase)$/,
    options: /^(-e|-q|--query|--command|--sql)$/,
    from: 1,
  },
];

/** The rule about statements that lose data of a database. */
export const databases: BuiltInRule = {
  name: 'database',
  about: 'Statements that drop, empty or change tables as a whole.',
  judge(command) {
    const { name = '', args } = command;
    if (/^(mongo|mongosh)$/.test(name)) {
      return textsOf(command, /^--eval$/).some((text) => LOSES_DOCUMENTS.test(text))
        ? ask('drops data')
        : undefined;
    }
    if (/^(redis-cli|valkey-cli|keydb-cli)$/.test(name)) {
      const texts = [args.join(' '), ...inputOf(command)];
      return texts.some((text) =>
        /(^|\s)(flushall|flushdb|shutdown|swapdb|debug\s+segfault|script\s+flush|function\s+flush)(\s|$)/i.test(
          text,
        ),
      )
        ? ask('drops data')
        : undefined;
    }
    if (/^(dropdb|dropuser)$/.test(name)) return ask('drops data');
    if (/^(mysqladmin|mariadb-admin)$/.test(name)) {
      return operandsOf(args).some((word) => /^(drop|shutdown|flush-.*)$/i.test(word))
        ? ask('drops data')
        : undefined;
    }
    const client = CLIENTS.find(({ names }) => names.test(name));
    if (client === undefined) return undefined;
    const statements = textsOf(command, client.options, client.from);
    if (statements.some(losesData)) return ask('drops or changes data as a whole');
    return statements.some(isUnknown)
      ? ask('runs statements that are known only when they run')
      : undefined;
  },
};

/** Returns the statements among the words of a client, and in its input. */
function textsOf(command: SimpleCommand, options: RegExp, from = command.args.length): string[] {
  const { args } = command;
  const texts: string[] = [];
  for (const [at, word] of args.entries()) {
    const [, long, joined] = /^(--?[\w-]+)=(.*)$/s.exec(word) ?? [];
    if (options.test(args[at - 1] ?? '')) texts.push(word);
    else if (long !== undefined && joined !== undefined && options.test(long)) texts.push(joined);
    else if (/^-[a-zA-Z]./.test(word) && options.test(word.slice(0, 2))) texts.push(word.slice(2));
  }
  const operands = args.filter(
    (word, at) => !word.startsWith('-') && !options.test(args[at - 1] ?? ''),
  );
  return [...texts, ...operands.slice(from), ...inputOf(command)];
}

/** Returns the input of a command, if the line itself contains it. */
function inputOf({ input }: SimpleCommand): string[] {
  if (input.from === 'text') return [input.text];
  return input.from === 'pipe' && input.said !== undefined ? [input.said] : [];
}

const LOSES_DOCUMENTS =
  /\.\s*(dropDatabase|drop|dropIndexes|remove|deleteMany|renameCollection|shutdownServer)\s*\(|["'](drop|dropDatabase|shutdown)["']\s*:/;
const DROPS =
  /\b(drop\s+(?!(column|constraint|default|not|expression|identity|attribute)\b)[a-z]|truncate\b|detach\s+delete\b|reset\s+(master|slave|replica)\b|vacuum\s+into\b|purge\s+(binary|master|recyclebin|table)\b|optimize\s+table\s+.*final\b)/i;
const ALTERS =
  /\balter\s+(table|database|schema|type|user|role|keyspace|materialized|view|domain|system)\b[^;]*\b(drop|delete|detach|truncate|disable)\b/i;
const RUNS_TEXT = /\b(execute|exec|do|call|prepare|eval|gexec)\b|sp_executesql/i;
const SHELL_COMMAND = /(^|\n)\s*\.(restore|clone|excel)\b/;

/** Whether statements delete more than the single rows that they name. */
function losesData(text: string): boolean {
  // MySQL runs the text inside such comments.
  const bare = text.replaceAll(/\/\*!\d*/g, ' ').replaceAll(/\/\*[\s\S]*?\*\/|--[^\n]*|\*\//g, ' ');
  const code = RUNS_TEXT.test(bare) ? bare : bare.replaceAll(/'(?:[^']|'')*'/g, "''");
  if (SHELL_COMMAND.test(code)) return true;
  return code.split(';').some((statement) => {
    if (DROPS.test(statement) || ALTERS.test(statement)) return true;
    const changes = /\bdelete\s+(from\b|[\w.`"]+\s+from\b)|\bupdate\s+[^;]*\bset\b/i.test(
      statement,
    );
    return (
      changes &&
      !/\bwhere\b(?!\s*\(?\s*(1|true|1\s*=\s*1|'1'\s*=\s*'1'|not\s+false)\s*\)?\s*$)/i.test(
        statement,
      )
    );
  });
}
