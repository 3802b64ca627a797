/**
 * What a variable does to the programs that get it. It `changes what runs`: by the loader, by the
 * start-up of an interpreter, by a configuration that names commands, or by changing whom a program
 * trusts. Or its value `names a command` that they run.
 */
export type VariableEffect = 'changes what runs' | 'names a command';

const CHANGES_WHAT_RUNS = [
  /^(PATH|PATHEXT|COMSPEC|HOME|USERPROFILE|APPDATA|IFS|ENV|PS0|PS4|CDPATH|HISTFILE)$/,
  /^(LD|DYLD|GIT|GEM|BUNDLE|XDG|MALLOC|GLIBC|LUA|PHP|DOTNET|COREHOST|CORECLR)_/,
  /^(PYTHON|RUBY|PERL|LUA_|GLIBC_TUNABLES)/,
  /^(NODE_OPTIONS|NODE_PATH|NODE_REPL_EXTERNAL_MODULE|ELECTRON_RUN_AS_NODE)$/,
  /^(BASH_|BASHOPTS$|SHELLOPTS$|PROMPT_COMMAND$|ZDOTDIR$|FPATH$|INPUTRC$)/,
  /^([Nn][Pp][Mm]_[Cc][Oo][Nn][Ff][Ii][Gg]_|PNPM_|YARN_|PIP_|UV_|CARGO_|RUSTC|RUSTFLAGS$|GOFLAGS$|GOROOT$|GOPATH$|MAKEFLAGS$)/,
  /^(JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|JAVA_HOME|CLASSPATH|MAVEN_OPTS|GRADLE_OPTS)$/,
  /^LESSKEY$/,
  /^(GCONV_PATH|HOSTALIASES|LOCALDOMAIN|LOCPATH|NLSPATH|RES_OPTIONS|TERMINFO|TERMCAP|TERMINFO_DIRS)$/,
  /^(OPENSSL_CONF|OPENSSL_MODULES|OPENSSL_ENGINES|CURL_HOME|WGETRC|KUBECONFIG|RIPGREP_CONFIG_PATH)$/,
  /^(TAR_OPTIONS|MAKEFILES|GNUMAKEFLAGS)$/,
  /^(AWS_CONFIG_FILE|AWS_SHARED_CREDENTIALS_FILE|PSQLRC|PGSYSCONFDIR|MYSQL_HOME|VIMINIT|EXINIT|HGRCPATH)$/,
  /^(DOCKER|ERL|TF_CLI|JULIA|FZF_DEFAULT|BUN|DENO|ANSIBLE|R_PROFILE|CGO|RUSTUP|TS_NODE|AWS_CA)_?/,
  /^(PHPRC|ZIPOPT|UNZIPOPT|UNZIP|VIMRUNTIME|AWKPATH|AWKLIBPATH|TCLLIBPATH|GUILE_.*|OCTAVE_PATH)$/,
  /^(GOENV|GOTOOLCHAIN|CMAKE_TOOLCHAIN_FILE|SCREENRC|TEXMFCNF|MAGICK_CONFIGURE_PATH|NODE_COMPILE_CACHE|EMACSLOADPATH)$/,
  // Which servers a child trusts, and which it connects to instead.
  /^(SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|GNUPGHOME|PGSERVICEFILE)$/,
  /_(PRELOAD|PROXY|OPTS|ARGS)$/,
  // Curl and many other programs read these names only in lower case.
  /^(http|https|ftp|all|no)_proxy$/,
];
const NAMES_COMMAND = [
  /^(EDITOR|VISUAL|BROWSER|SHELL|LESSOPEN|LESSCLOSE|RSYNC_CONNECT_PROG|GIT_SSH_COMMAND|GIT_PROXY_COMMAND)$/,
  /^(MAKE|CC|CXX|LD|AR|AS|CPP)$/,
  /_(RSH|SSH|SHELL|EDITOR|BROWSER|ASKPASS|EXTERNAL_DIFF)$/,
  /PAGER$/,
];
// The members of those families that are harmless: they only change how the program talks or whose
// work it is, or make it load less.
const HARMLESS = [
  /^PYTHON(UNBUFFERED|DONTWRITEBYTECODE|UTF8|HASHSEED|NOUSERSITE|SAFEPATH|FAULTHANDLER)$/,
  /^GIT_(TERMINAL_PROMPT|OPTIONAL_LOCKS|ADVICE|MERGE_AUTOEDIT|CONFIG_NOSYSTEM|LITERAL_PATHSPECS)$/,
  /^GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$/,
  /^NPM_CONFIG_(LOGLEVEL|COLOR|FUND|AUDIT|PROGRESS|UPDATE_NOTIFIER|YES)$/i,
  /^PIP_(NO_INPUT|NO_COLOR|QUIET|DISABLE_PIP_VERSION_CHECK|PROGRESS_BAR)$/,
  /^(CARGO_TERM_COLOR|DOTNET_NOLOGO|DOTNET_CLI_TELEMETRY_OPTOUT|DENO_NO_UPDATE_CHECK)$/,
];

/**
 * What an environment variable does to the programs that get it. Names are compared as they are
 * written; where a system does not tell cases apart, pass them in upper case.
 *
 * @param name of the variable
 * @returns `undefined` for a variable that does neither
 */
export function variableEffect(name: string): VariableEffect | undefined {
  const isOne = (pattern: RegExp) => pattern.test(name);
  if (NAMES_COMMAND.some(isOne)) return 'names a command';
  if (HARMLESS.some(isOne) || !CHANGES_WHAT_RUNS.some(isOne)) return undefined;
  return 'changes what runs';
}
