import { operandsOf } from '../options.js';
import { ask, type BuiltInRule } from './rule.js';

/** Programs that store keys and passwords, with the words that remove some of them. */
const REMOVES: Readonly<Record<string, RegExp>> = {
  gpg: /^--(delete-|expert-delete|gen-revoke|generate-revocation|quick-revoke)/,
  gpgsm: /^--delete-/,
  'gpg-connect-agent': /^delete_key/i,
  'ssh-add': /^-[dD]$/,
  security: /^delete-/,
  keytool: /^-(delete|storepasswd)$/,
  'secret-tool': /^clear$/,
  certutil: /^-[DF]$/,
  pass: /^(rm|remove|delete)$/,
  gopass: /^(rm|remove|delete)$/,
  passage: /^(rm|remove|delete)$/,
  op: /^(delete|archive)$/,
  bw: /^delete$/,
  lpass: /^rm$/,
  keybase: /^(delete|drop|purge)$/,
  vault: /^(delete|destroy|revoke|disable|purge|seal)$/,
  'step-ca': /^revoke$/,
  certbot: /^(delete|revoke)$/,
  ykman: /^(reset|delete|delete-certificate|delete-key)$/,
  tpm2_clear: /^/,
  tpm2_evictcontrol: /^/,
  sops: /^--rm-/,
};

/** The rule about removing keys that can't be restored. */
export const keys: BuiltInRule = {
  name: 'key-removal',
  about: 'Removing keys, certificates and passwords from where they are kept.',
  judge({ name = '', args }) {
    const known = name === 'gpg2' ? 'gpg' : name;
    const words = Object.hasOwn(REMOVES, known) ? REMOVES[known] : undefined;
    if (words === undefined) return undefined;
    // For most programs, the words that matter are operands.
    const candidates = /^(gpg|gpgsm|ssh-add|keytool|certutil|sops)$/.test(known)
      ? args
      : operandsOf(args).slice(0, 3);
    const removes = known.startsWith('tpm2') || candidates.some((word) => words.test(word));
    return removes ? ask('removes keys or passwords') : undefined;
  },
};
