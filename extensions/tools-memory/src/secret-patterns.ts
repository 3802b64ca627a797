/** Patterns of texts that are secrets by their form, whatever text is around them. */
export const SECRET_PATTERNS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a private key', /-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/g],
  ['a private key', /\bPuTTY-User-Key-File-\d|\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/g],
  ['an AWS access key id', /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g],
  ['a GitHub token', /(?<![A-Za-z0-9])gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}/g],
  ['a GitLab token', /(?<![A-Za-z0-9])gl(?:pat|ptt|dt|rt|soat|cbt)-[\w-]{20,}/g],
  ['a Slack token', /(?<![A-Za-z0-9])(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{10,}/g],
  ['a Slack webhook', /hooks\.slack\.com\/(?:services|workflows)\/[A-Z0-9]{8,}\/[\w/]{8,}/gi],
  ['a Stripe key', /(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}/g],
  ['an Anthropic key', /(?<![A-Za-z0-9])sk-ant-[\w-]{16,}/g],
  ['a Google key', /(?<![A-Za-z0-9])(?:AIza[\w-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,})/g],
  ['a Hugging Face token', /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}/g],
  ['an npm token', /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,}/g],
  ['a PyPI token', /(?<![A-Za-z0-9])pypi-[\w-]{30,}/g],
  ['a SendGrid key', /(?<![A-Za-z0-9])SG\.[\w-]{16,}\.[\w-]{16,}/g],
  ['a Twilio key', /(?<![A-Za-z0-9])(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])/g],
  ['a Telegram bot token', /(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{30,}/g],
  ['a DigitalOcean token', /(?<![A-Za-z0-9])do[opr]_v1_[a-f0-9]{40,}/g],
  ['a Shopify token', /(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[a-fA-F0-9]{20,}/g],
  ['a Vault token', /(?<![A-Za-z0-9])hv[sbr]\.[\w-]{20,}/g],
  [
    'a JSON Web Token',
    /(?<![A-Za-z0-9_-])eyJ[\w-]{8,}\.(?:[\w-]{0,2000}\.){1,3}[\w-]{8,}|(?<![A-Za-z0-9_-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}/g,
  ],
  ['a Databricks token', /(?<![A-Za-z0-9])dapi[0-9a-f]{32}/g],
  ['a Supabase token', /(?<![A-Za-z0-9])sb[pv]_[0-9a-f]{40}/g],
  ['a Doppler token', /(?<![A-Za-z0-9])dp\.(?:pt|st|sa|ct|scim|audit)\.[\w.-]{40,}/g],
  ['a Discord bot token', /(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}/g],
  ['a Heroku key', /(?<![A-Za-z0-9])HRKU-[\w-]{20,}/g],
  ['a private key', /\bprivate[-_ ]?key\b[^\n]{0,40}?\b0x[0-9a-f]{64}(?![0-9a-f])/gi],
  ['an Azure signature', /[?&]sig=[A-Za-z0-9%+/]{30,}/g],
  ['an Azure key', /\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{30,}={0,2}/g],
];

/**
 * Patterns of secrets, except when the text is a name made of words, such as the name of a branch.
 */
export const NAME_LIKE_PATTERNS: typeof SECRET_PATTERNS = [
  [
    'an OpenAI key',
    /(?<![A-Za-z0-9])sk-(?!ant-)(?=[\w-]{0,200}[0-9])(?=[\w-]{0,200}[A-Za-z])(?:[a-z]{2,8}-){0,2}[\w-]{20,}/g,
  ],
  [
    'an API key',
    /(?<![A-Za-z0-9])(?:gsk|xai|tvly|pplx|lin_api|dckr_pat|rnd|re|key|sntrys|glsa|phc|figd)[-_](?=[\w-]{0,200}[0-9])[A-Za-z0-9_-]{24,}/g,
  ],
];
