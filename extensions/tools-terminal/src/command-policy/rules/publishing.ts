import { isUnknown } from '../marked-text.js';
import { hasLong, operandsOf, readOperands } from '../options.js';
import { ask, type BuiltInRule, worst } from './rule.js';

const PUBLISHERS: Readonly<Record<string, RegExp>> = {
  npm: /^(publish|unpublish|deprecate|owner|access|token|dist-tag|adduser|login)$/,
  pnpm: /^(publish|unpublish)$/,
  yarn: /^(publish|npm)$/,
  bun: /^publish$/,
  deno: /^publish$/,
  jsr: /^publish$/,
  nx: /^release$/,
  'semantic-release': /^/,
  'release-it': /^/,
  np: /^/,
  'gh-pages': /^/,
  mkdocs: /^gh-deploy$/,
  goreleaser: /^(release|publish)$/,
  'cargo-release': /^/,
  dart: /^pub$/,
  flutter: /^pub$/,
  pod: /^(trunk|repo)$/,
  mix: /^hex\.(publish|retire|owner)$/,
  nuget: /^(push|delete)$/,
  luarocks: /^upload$/,
  cabal: /^upload$/,
  stack: /^upload$/,
  anaconda: /^(upload|remove)$/,
  snapcraft: /^(upload|push|release)$/,
  charmcraft: /^(upload|release)$/,
  ovsx: /^publish$/,
  'web-ext': /^sign$/,
  oras: /^(push|copy|cp)$/,
  crane: /^(push|copy|cp|delete|tag)$/,
  skopeo: /^(copy|delete|sync)$/,
  buildah: /^push$/,
  nerdctl: /^(push|login)$/,
  'huggingface-cli': /^(upload|delete|login)$/,
  hf: /^(upload|delete|auth)$/,
  surge: /^/,
  pastebinit: /^/,
  gist: /^/,
  lerna: /^publish$/,
  changeset: /^publish$/,
  cargo: /^(publish|yank|owner|login)$/,
  gem: /^(push|yank|owner)$/,
  twine: /^upload$/,
  poetry: /^publish$/,
  uv: /^publish$/,
  flit: /^publish$/,
  hatch: /^publish$/,
  docker: /^(push|login)$/,
  podman: /^(push|login)$/,
  helm: /^push$/,
  vsce: /^publish$/,
  gh: /^/,
  glab: /^/,
  mvn: /^deploy$/,
  mvnw: /^deploy$/,
  gradle: /^publish/,
  gradlew: /^publish/,
};

/**
 * Matches words of a code host client that only show something, or propose a change that others can
 * reject.
 */
const SHOWS =
  /^(view|list|ls|status|diff|checks|checkout|co|search|browse|clone|download|watch|verify|show|note|trace|set-default|develop|)$/;
const PROPOSES = /^(create|edit|comment|ready|review|update|close|reopen|update-branch)$/;
const ACTS_ON =
  /^(repo|release|secret|variable|auth|cache|label|gist|snippet|codespace|cs|extension|ext|ssh-key|gpg-key|deploy-key|workflow|run|ruleset|project|org|ci|schedule|token|cluster|alias|config|mr|pr|issue|attestation|model|agent-task)$/;

function actsOnHub(noun: string, verb: string): boolean {
  if (!ACTS_ON.test(noun) || SHOWS.test(verb)) return isUnknown(noun);
  return !(/^(pr|mr|issue)$/.test(noun) && PROPOSES.test(verb));
}

function callsApi(args: readonly string[]): boolean {
  const reads = args.some(
    (word, at) => /^(-X|--method)$/.test(args[at - 1] ?? '') && /^GET$/i.test(word),
  );
  return (
    !reads && args.some((word) => /^(-X|--method|-f|-F|--field|--raw-field|--input)/.test(word))
  );
}

/** The rule about publishing. */
export const publishing: BuiltInRule = {
  name: 'publishing',
  about: 'Publishing packages, images and releases.',
  judge({ name = '', args }) {
    const verbs = Object.hasOwn(PUBLISHERS, name) ? PUBLISHERS[name] : undefined;
    if (verbs === undefined) return undefined;
    if (hasLong(args, 'dry-run', 3)) return undefined;
    const readings = readOperands(args, {
      short: 'CwF',
      long: ['prefix', 'filter', 'dir', 'workspace', 'config', 'context', 'host'],
      flags: ['recursive', 'silent', 'debug'],
    }).readings;
    return worst(
      readings.map(([verb = '', next = '']) => {
        if (/^(gh|glab)$/.test(name)) {
          const acts = verb === 'api' ? callsApi(args) : actsOnHub(verb, next);
          return acts ? ask('changes what is published') : undefined;
        }
        if (/^(dart|flutter)$/.test(name)) return next === 'publish' ? ask('publishes') : undefined;
        if (name === 'pod') return next === 'push' ? ask('publishes') : undefined;
        if (name === 'yarn' && verb === 'npm')
          return next === 'publish' ? ask('publishes') : undefined;
        // Maven takes several phases, one after the other.
        if (/^(mvnw?|gradlew?)$/.test(name))
          return operandsOf(args).some((phase) => verbs.test(phase)) ? ask('publishes') : undefined;
        if (/^(owner|access|token|dist-tag)$/.test(verb) && /^(ls|list|get)$/.test(next))
          return undefined;
        const isShort =
          name === 'npm' &&
          verb.length > 2 &&
          ['publish', 'unpublish'].some((whole) => whole.startsWith(verb));
        return isShort || verbs.test(verb) || isUnknown(verb)
          ? ask('publishes, or changes what is published')
          : undefined;
      }),
    );
  },
};
