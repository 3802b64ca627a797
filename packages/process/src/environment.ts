import { CapabilityError } from '@ethosagent/types';

// Each of these makes an allowed binary run code, or another binary, that nobody declared: by the
// loader, by an interpreter's start-up, by a configuration that names commands, or by a helper.
const CHANGES_WHAT_RUNS = [
  /^(PATH|PATHEXT|COMSPEC|HOME|USERPROFILE|APPDATA|IFS|ENV|PS4|CDPATH|SHELL)$/,
  /^(LD|DYLD|GIT|GEM|BUNDLE|XDG|MALLOC|GLIBC|LUA|PHP|DOTNET|COREHOST|CORECLR)_/,
  /^(PYTHON|RUBY|PERL|LUA_|GLIBC_TUNABLES)/,
  /^(NODE_OPTIONS|NODE_PATH|NODE_REPL_EXTERNAL_MODULE|ELECTRON_RUN_AS_NODE)$/,
  /^(BASH_|BASHOPTS$|SHELLOPTS$|PROMPT_COMMAND$|ZDOTDIR$|FPATH$|INPUTRC$)/,
  /^(NPM_CONFIG_|PNPM_|YARN_|PIP_|UV_|CARGO_|RUSTC|RUSTFLAGS$|GOFLAGS$|GOROOT$|GOPATH$|MAKEFLAGS$)/,
  /^(JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|JAVA_HOME|CLASSPATH|MAVEN_OPTS|GRADLE_OPTS)$/,
  /^(EDITOR|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|LESSKEY|SSH_ASKPASS|SUDO_ASKPASS)$/,
  /^(GCONV_PATH|HOSTALIASES|LOCALDOMAIN|LOCPATH|NLSPATH|RES_OPTIONS|TERMINFO|TERMCAP|TERMINFO_DIRS)$/,
  /^(OPENSSL_CONF|OPENSSL_MODULES|OPENSSL_ENGINES|CURL_HOME|WGETRC|KUBECONFIG|RIPGREP_CONFIG_PATH)$/,
  /^(TAR_OPTIONS|MAKE|MAKEFILES|GNUMAKEFLAGS|CC|CXX|LD|AR|AS|CPP)$/,
  /^(AWS_CONFIG_FILE|AWS_SHARED_CREDENTIALS_FILE|PSQLRC|PGSYSCONFDIR|MYSQL_HOME|VIMINIT|EXINIT|HGRCPATH)$/,
  /^(DOCKER|ERL|TF_CLI|JULIA|FZF_DEFAULT|BUN|DENO|ANSIBLE|R_PROFILE|CGO|RUSTUP|TS_NODE|AWS_CA)_?/,
  /^(PHPRC|ZIPOPT|UNZIPOPT|UNZIP|RSYNC_CONNECT_PROG|VIMRUNTIME|AWKPATH|AWKLIBPATH|TCLLIBPATH|GUILE_.*|OCTAVE_PATH)$/,
  /^(GOENV|GOTOOLCHAIN|CMAKE_TOOLCHAIN_FILE|SCREENRC|TEXMFCNF|MAGICK_CONFIGURE_PATH|NODE_COMPILE_CACHE|EMACSLOADPATH)$/,
  // Whom a child trusts, and whom it talks to instead.
  /^(SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|GNUPGHOME|PGSERVICEFILE)$/,
  /_(RSH|SSH|SHELL|EDITOR|BROWSER|ASKPASS|PRELOAD|PROXY|OPTS|ARGS|EXTERNAL_DIFF)$/,
];
// Of those families, what says only how to talk, whose work it is, or to load less.
const HARMLESS = [
  /^PYTHON(UNBUFFERED|DONTWRITEBYTECODE|UTF8|HASHSEED|NOUSERSITE|SAFEPATH|FAULTHANDLER)$/,
  /^GIT_(TERMINAL_PROMPT|OPTIONAL_LOCKS|ADVICE|MERGE_AUTOEDIT|CONFIG_NOSYSTEM|LITERAL_PATHSPECS)$/,
  /^GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$/,
  /^NPM_CONFIG_(LOGLEVEL|COLOR|FUND|AUDIT|PROGRESS|UPDATE_NOTIFIER|YES)$/,
  /^PIP_(NO_INPUT|NO_COLOR|QUIET|DISABLE_PIP_VERSION_CHECK|PROGRESS_BAR)$/,
  /^(CARGO_TERM_COLOR|DOTNET_NOLOGO|DOTNET_CLI_TELEMETRY_OPTOUT|DENO_NO_UPDATE_CHECK)$/,
];
// A pager that pages nothing is how a caller turns paging off.
const PAGERS = /PAGER$/;

/**
 * Checks the variables that a tool passes to a child.
 * @throws `BINARY_NOT_ALLOWED` for one that changes what runs or can't be a variable
 */
export function assertSafeEnvironment(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    const upper = name.toUpperCase();
    if (name === '' || /[=\0]/.test(name) || typeof value !== 'string' || value.includes('\0')) {
      throw refuse(name, 'is not a variable', 'malformed environment');
    }
    const refused = PAGERS.test(upper)
      ? value !== 'cat' && value !== ''
      : CHANGES_WHAT_RUNS.some((pattern) => pattern.test(upper)) &&
        !HARMLESS.some((pattern) => pattern.test(upper));
    if (refused) {
      throw refuse(name, 'changes what runs; leave it out', 'environment changes what runs');
    }
  }
}

function refuse(name: string, what: string, rule: string): CapabilityError {
  const shown = JSON.stringify(name.slice(0, 100)).slice(1, -1);
  return new CapabilityError('BINARY_NOT_ALLOWED', `environment variable ${shown} ${what}`, rule);
}

/** Variables of a child, before the tool adds its own. */
export type BaseEnvironment = Readonly<Record<string, string | undefined>>;

/** What a host passes to its children; its own environment when it does not say. */
export function baseEnvironment(given: BaseEnvironment | undefined): BaseEnvironment {
  // biome-ignore lint/style/noProcessEnv: the documented default; a host passes its own base environment
  return given ?? process.env;
}
