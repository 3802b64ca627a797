import type { Project } from './projects.js';

const selfSigned = (name: string) =>
  `mkdir -p test/fixtures && cd test/fixtures && openssl req -x509 -nodes -days 2 -newkey rsa:2048 \
    -subj /CN=${name}.hpagent-unit-test.com -keyout key_${name}.pem -out cert_${name}.pem && \
    cat cert_${name}.pem >> certs_unit_test.pem && cd ../..`;

/** Packages of the npm registry that ship their tests. */
export const PUBLISHED: readonly Project[] = [
  {
    name: 'reusify@1.1.0',
    runner: 'tape',
    install: ['tape@5'],
    direct: { script: 'test' },
    summary: 'tape',
  },
  {
    name: 'fastq@1.20.3',
    runner: 'tape',
    install: ['tape@5', 'nyc@17', 'async@3', 'neo-async@2'],
    direct: { script: 'unit' },
    summary: 'tape',
  },
  {
    name: 'fast-uri@4.2.3',
    runner: 'tape',
    install: ['tape@5', 'ajv@8'],
    direct: { script: 'test' },
    summary: 'tape',
  },
  {
    name: 'fast-json-stable-stringify@2.1.0',
    runner: 'tape',
    install: ['tape@4', 'nyc@14'],
    direct: { script: 'test-spec' },
    summary: 'tape',
  },
  {
    name: 'rfdc@1.4.1',
    runner: 'tap',
    install: ['tap@12', 'lodash.clonedeep@4'],
    direct: { command: 'node_modules/.bin/tap -R min test' },
    summary: 'tap12',
  },
  {
    name: 'fast-redact@3.5.0',
    runner: 'tap',
    install: ['tap@12'],
    direct: { command: 'node_modules/.bin/tap -R min test' },
    summary: 'tap12',
  },
  {
    name: '@fastify/error@4.2.1',
    runner: 'node',
    install: ['c8@10'],
    direct: { script: 'test:unit' },
    summary: 'node',
  },
  {
    name: 'fast-content-type-parse@4.0.1',
    runner: 'node',
    install: ['c8@10', 'content-type@1', 'busboy@1'],
    direct: { script: 'test:unit' },
    summary: 'node',
  },
  {
    name: 'md5@2.3.0',
    runner: 'mocha',
    install: ['mocha@2.3.4'],
    direct: { script: 'test' },
    summary: 'mocha',
  },
  {
    name: 'hpagent@1.2.0',
    runner: 'ava',
    install: ['ava@4', 'got@11', 'needle@3', 'node-fetch@2', 'proxy@1', 'simple-get@4'],
    // Without certificates, which the package leaves out, no test of it begins.
    prepare: ['proxy', 'server'].map(selfSigned).join(' && '),
    direct: {
      command:
        'NODE_EXTRA_CA_CERTS=test/fixtures/certs_unit_test.pem node_modules/.bin/ava -v test/*.test.js',
    },
    summary: 'ava',
  },
  {
    name: 'gensync@1.0.0-beta.2',
    runner: 'jest',
    install: ['jest@23', 'babel-core@6', 'babel-preset-env@1', 'util.promisify@1'],
    direct: { script: 'test' },
    summary: 'jest',
  },
  {
    name: 'node-abort-controller@3.1.1',
    runner: 'jest',
    install: ['jest@29', 'jest-environment-jsdom@29', 'node-fetch@2', 'whatwg-fetch@3'],
    direct: { script: 'test' },
    summary: 'jest',
  },
  {
    name: 'abstract-logging@2.0.1',
    runner: 'script',
    install: [],
    direct: { script: 'test' },
    summary: 'exit code',
  },
  {
    name: 'json-buffer@3.0.1',
    runner: 'script',
    install: ['tape@4'],
    direct: { script: 'test' },
    summary: 'tape',
  },
];
