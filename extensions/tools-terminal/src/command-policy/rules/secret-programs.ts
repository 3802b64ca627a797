import { operandsOf } from '../options.js';

/** The first operands, joined by a blank, with which a program prints secrets that it stores. */
const PRINTED_BY_WORDS: Readonly<Record<string, RegExp>> = {
  pass: /^show\b/,
  gopass: /^(show|cat)\b/,
  passage: /^show\b/,
  'secret-tool': /^(lookup|search)\b/,
  security: /^(find-(generic|internet)-password|dump-keychain|export)\b/,
  op: /^(read|item get|document get|run|inject)\b/,
  bw: /^(get|list|export|unlock)\b/,
  lpass: /^(show|export)\b/,
  vault: /^(read|kv get|token lookup|print token)\b/,
  doppler: /^(secrets|run)\b/,
  keyctl: /^(print|pipe|read)\b/,
  git: /^credential fill\b/,
  gh: /^auth token\b/,
  glab: /^auth token\b/,
  az: /^(account get-access-token|keyvault secret (show|download)|acr credential show)\b/,
  gcloud: /^(auth (application-default )?print-(access|identity)-token|secrets versions access)\b/,
  aws: /^(sts (get-session-token|assume-role\S*|get-federation-token)|secretsmanager (batch-)?get-secret-value|ssm get-parameters?|configure (get|export-credentials)|ecr get-login-password|iam create-access-key|codeartifact get-authorization-token)\b/,
  heroku: /^(auth:token|config)\b/,
  fly: /^auth token\b/,
  flyctl: /^auth token\b/,
  railway: /^variables\b/,
  vercel: /^env pull\b/,
  terraform: /^(output|state pull|show)\b/,
};
/** The options with which a program does the same. */
const PRINTED_BY_OPTION: Readonly<Record<string, RegExp>> = {
  gpg: /^--export-secret-(sub)?keys|^--export-ssh-key$/,
  gpg2: /^--export-secret-(sub)?keys/,
  sops: /^(-d|--decrypt|decrypt|exec-env)$/,
  rclone: /^(dump|show|reveal)$/,
};
/** Matches options of `ps` whose value is the next word. */
const PS_VALUE = /^-[a-zA-Z]*[CuUgGpqstoOk]$|^--\w+$/;

/**
 * Whether a program prints passwords, keys or tokens that it stores or that another process has.
 */
export function printsSecrets(name: string, args: readonly string[]): boolean {
  if (name === 'ps') return showsEnvironments(args);
  const byWords = ownOf(PRINTED_BY_WORDS, name);
  const operands = operandsOf(args).slice(0, 3).join(' ');
  if (byWords?.test(operands) === true && !isTame(name, args)) return true;
  if (name === 'kubectl') {
    const shown = /^config view\b/.test(operands) ? /^--raw$/ : /^(-o|--output|--template)/;
    const isSecret = /^(config view|get secrets?)\b/.test(operands);
    return isSecret && args.some((word) => shown.test(word));
  }
  return args.some((word) => ownOf(PRINTED_BY_OPTION, name)?.test(word) === true);
}

/**
 * Whether a program hides secrets: `terraform output` does, unless it is asked for the raw value.
 */
function isTame(name: string, args: readonly string[]): boolean {
  if (name === 'terraform') {
    return !operandsOf(args).includes('pull') && !args.some((word) => /^-(json|raw)$/.test(word));
  }
  return (
    name === 'aws' && args.includes('get') && !args.some((word) => /secret|token|key/.test(word))
  );
}

/** Whether `ps` shows the environments of all processes, as with `ps auxe`. */
function showsEnvironments(args: readonly string[]): boolean {
  return args.some((word, at) => {
    if (word === '-E') return true;
    return /^[a-zA-Z]*e[a-zA-Z]*$/.test(word) && !PS_VALUE.test(args[at - 1] ?? '');
  });
}

function ownOf(record: Readonly<Record<string, RegExp>>, name: string): RegExp | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
