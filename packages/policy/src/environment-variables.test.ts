import { describe, expect, it } from 'vitest';
import { variableEffect } from './environment-variables.js';

describe('variableEffect', () => {
  it.each([
    ...['PATH', 'PATHEXT', 'HOME', 'IFS', 'ENV', 'PS0', 'PS4', 'CDPATH', 'HISTFILE', 'APPDATA'],
    ...[
      'LD_PRELOAD',
      'LD_LIBRARY_PATH',
      'DYLD_INSERT_LIBRARIES',
      'GLIBC_TUNABLES',
      'MALLOC_CHECK_',
    ],
    ...['BASH_ENV', 'BASHOPTS', 'SHELLOPTS', 'BASH_FUNC_x%%', 'BASH_LOADABLES_PATH', 'BASH_CMDS'],
    ...['BASH_ALIASES', 'PROMPT_COMMAND', 'ZDOTDIR', 'FPATH', 'INPUTRC', 'GCONV_PATH', 'LOCPATH'],
    ...['PYTHONSTARTUP', 'PYTHONHOME', 'PYTHONPATH', 'PYTHONBREAKPOINT', 'PERL5OPT', 'PERL5LIB'],
    ...[
      'PERL5DB',
      'RUBYOPT',
      'RUBYLIB',
      'GEM_HOME',
      'BUNDLE_GEMFILE',
      'LUA_INIT',
      'PHP_INI_SCAN_DIR',
    ],
    ...['NODE_OPTIONS', 'NODE_PATH', 'NODE_REPL_EXTERNAL_MODULE', 'ELECTRON_RUN_AS_NODE'],
    ...['JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'JAVA_HOME', 'CLASSPATH'],
    ...['MAVEN_OPTS', 'GRADLE_OPTS', 'GIT_EXEC_PATH', 'GIT_CONFIG_COUNT', 'GIT_CONFIG_KEY_0'],
    ...[
      'GIT_TEMPLATE_DIR',
      'GIT_ALLOW_PROTOCOL',
      'GIT_DIR',
      'MAKEFLAGS',
      'MAKEFILES',
      'GNUMAKEFLAGS',
    ],
    ...['EXINIT', 'VIMINIT', 'TAR_OPTIONS', 'RUSTC', 'RUSTC_WRAPPER', 'RUSTFLAGS', 'GOFLAGS'],
    ...['npm_config_script_shell', 'npm_config_node_options', 'NPM_CONFIG_PREFIX', 'PIP_INDEX_URL'],
    ...['CARGO_HOME', 'UV_INDEX', 'XDG_CONFIG_HOME', 'DOCKER_HOST', 'KUBECONFIG', 'OPENSSL_CONF'],
    ...['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS', 'NODE_TLS_REJECT_UNAUTHORIZED', 'HTTPS_PROXY'],
    ...['http_proxy', 'https_proxy', 'ftp_proxy', 'all_proxy', 'no_proxy', 'ALL_PROXY'],
    ...['TERMINFO', 'LESSKEY', 'PSQLRC', 'HGRCPATH', 'PHPRC', 'AWKPATH', 'DOTNET_STARTUP_HOOKS'],
    ...[
      'LESSKEYIN',
      'LESSKEY_CONTENT',
      'GETCONF_DIR',
      'R_LIBS_USER',
      'COR_PROFILER_PATH',
      'JUPYTER_PATH',
    ],
    ...['PYTEST_PLUGINS', 'GCC_EXEC_PREFIX', 'COMPILER_PATH', 'GTK_MODULES', 'QT_PLUGIN_PATH'],
    ...['MANOPT', 'DBUS_SESSION_BUS_ADDRESS', 'GOPROXY', 'GOSUMDB'],
  ])('%s changes what runs', (name) => {
    expect(variableEffect(name)).toBe('changes what runs');
  });

  it.each([
    ...['EDITOR', 'VISUAL', 'BROWSER', 'SHELL', 'PAGER', 'MANPAGER', 'GIT_PAGER', 'LESSOPEN'],
    ...['LESSCLOSE', 'GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_EDITOR', 'GIT_SEQUENCE_EDITOR'],
    ...['GIT_EXTERNAL_DIFF', 'GIT_PROXY_COMMAND', 'GIT_ASKPASS', 'SSH_ASKPASS', 'SUDO_ASKPASS'],
    ...['RSYNC_RSH', 'CVS_RSH', 'RSYNC_CONNECT_PROG', 'MAKE', 'CC', 'CXX', 'LD', 'AR', 'AS', 'CPP'],
    ...['RM', 'YACC', 'PKG_CONFIG', 'CCACHE_PREFIX', 'CMAKE_CXX_COMPILER_LAUNCHER', 'HGMERGE'],
  ])('the value of %s names a command', (name) => {
    expect(variableEffect(name)).toBe('names a command');
  });

  it.each([
    ...[
      'npm_config_cache',
      'UV_CACHE_DIR',
      'PUPPETEER_EXECUTABLE_PATH',
      'CCACHE_DIR',
      'MIX_ENV',
      'RM_X',
      'VIMX',
      'R_X',
      'GODEBUG',
      'CMAKE_BUILD_TYPE',
    ],
    ...['FOO', 'DEBUG', 'CI', 'LANG', 'TZ', 'TERM', 'NO_COLOR', 'NODE_ENV', 'PORT', 'X_PATH'],
    ...['PYTHONUNBUFFERED', 'PYTHONHASHSEED', 'GIT_TERMINAL_PROMPT', 'GIT_AUTHOR_NAME'],
    ...['NPM_CONFIG_LOGLEVEL', 'npm_config_fund', 'PIP_NO_INPUT', 'CARGO_TERM_COLOR'],
    ...['path', 'cc', 'home', '', 'editor'],
  ])('%j does neither', (name) => {
    expect(variableEffect(name)).toBeUndefined();
  });
});
