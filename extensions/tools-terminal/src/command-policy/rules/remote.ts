import { operandsOf } from '../options.js';
import { ask, type BuiltInRule } from './rule.js';

/** Matches a connection to another machine, with marks for the unknown parts. */
const CONNECTION =
  /^\/dev\/(tcp|udp)\/|^\/dev\/[^/]*[\uE000\uE001]|[\uE000\uE001].*\/(tcp|udp)\/[^/]+\/[^/]+$/;

/** Matches clients of clouds and similar services, with the words that remove something there. */
const LOSES =
  /^(rm|rb|rmi|del|rmdir|rmdirs|deletefile|delete|delete[-:].*|.*[-:]delete|remove|remove-.*|destroy|.*[:.]destroy|terminate|terminate-.*|purge|purge-.*|.*:purge|deregister-.*|release-.*|revoke-.*|schedule-key-deletion|cancel-.*|empty|wipe|reset|.*:reset|unset|disable-.*|detach-.*|deploy)$/;
const CLOUDS =
  /^(aws|gcloud|gsutil|az|doctl|flyctl|fly|heroku|vercel|netlify|wrangler|hcloud|linode-cli|oci|ibmcloud|scw|vultr-cli|upctl|exo|openstack|swift|rclone|s3cmd|s4cmd|s5cmd|mc|mcli|b2|azcopy|firebase|supabase|railway|render|cf|eb|sam|cdk8s|serverless|sls|eksctl|kops|aliyun|tccli|yc|nomad|consul|etcdctl|vercel|neonctl|turso|pscale|atlas|databricks|snow|bq|packer|juju|crossplane|argocd|flux|rancher|rke)$/;
/** Options with which a copy removes files that the source does not have. */
const MIRRORS: Readonly<Record<string, RegExp>> = {
  aws: /^--delete$/,
  gcloud: /^--delete-unmatched/,
  gsutil: /^-[a-zA-Z]*d[a-zA-Z]*$/,
  s3cmd: /^--delete/,
  s5cmd: /^--delete$/,
  mc: /^--(remove|force)$/,
  mcli: /^--(remove|force)$/,
  b2: /^--(delete|replaceNewer|replace-newer)/,
  az: /^--delete-destination/,
  azcopy: /^--delete-destination/,
  rclone: /^--delete-(before|during|after|excluded)/,
};
/** Matches the subcommands of `rclone` that make the other side the same. */
const SYNCS = /^(sync|move|moveto|bisync|cleanup|dedupe)$/;

/** How many words count as the subcommand. The words after it may be another command. */
const CLUSTER_WORDS = 12;
const CLUSTER_CHANGES =
  /^(delete|drain|exec|attach|apply|create|run|edit|set|expose|autoscale|label|annotate|replace|patch|scale|cordon|uncordon|taint|cp|debug|uninstall|install|upgrade|rollback|rollout|certificate|new-app|new-project|adm)$/;

function isClusterChange(word: string, next: string | undefined): boolean {
  if (word === 'rollout') return !/^(status|history)$/.test(next ?? '');
  return CLUSTER_CHANGES.test(word);
}

/**
 * Whether a client of a queue or a search engine has a word or an option that removes something.
 */
function deletesInQueue(name: string, args: readonly string[]): boolean {
  if (/^kafka-[a-z-]+(\.sh)?$/.test(name))
    return args.some((word) => /^--(delete|reset-offsets|alter)/.test(word));
  if (/^rabbitmq(ctl|admin)$/.test(name)) {
    return args.some((word) =>
      /^(delete|delete_.*|reset|force_reset|purge|purge_queue|stop_app|clear_.*)$/.test(word),
    );
  }
  return (
    /^(nats|pulsar-admin|rpk|zkCli\.sh|etcdctl|sentry-cli|stripe|twilio)$/.test(name) &&
    args.some((word) => /^(rm|del|delete|delete-.*|deleteall|purge|terminate|remove)$/.test(word))
  );
}

/** The rule about other machines, and the data on them. */
export const remote: BuiltInRule = {
  name: 'remote',
  about: 'Commands on other machines, and destroying what runs or is kept there.',
  judge({ name = '', args, redirects }) {
    if (redirects.some(({ target }) => CONNECTION.test(target))) {
      return ask('talks to another machine');
    }
    if (/^(nc|ncat|netcat|socat)$/.test(name)) {
      const runs = args.some((word) =>
        /^-[a-zA-Z]*[ec]$|^--(sh-)?exec|(exec|system|shell):/i.test(word),
      );
      return runs ? ask('lets another machine run commands') : undefined;
    }
    if (
      /^(ansible|ansible-playbook|ansible-pull|salt|salt-ssh|pssh|pdsh|clush|cap|fab|dsh)$/.test(
        name,
      )
    ) {
      return args.some((word) =>
        /^(--check|-C|--syntax-check|--list-.*|--help|--version)$/.test(word),
      )
        ? undefined
        : ask('runs on other machines');
    }
    if (/^(ssh|mosh|rsh|autossh|plink|ssh-copy-id)$/.test(name)) {
      return args.length === 1 && /^-[VGQ]/.test(args[0] ?? '')
        ? undefined
        : ask('runs on another machine');
    }
    const words = operandsOf(args);
    if (/^(rsync|lftp|unison)$/.test(name)) {
      return mirrors(args, words) ? ask('deletes what is on another machine') : undefined;
    }
    if (/^(terraform|tofu|pulumi|cdk|terragrunt)$/.test(name)) {
      return words.some((word) =>
        /^(destroy|apply|up|deploy|import|taint|untaint|rm|mv|push|force-unlock|refresh|cancel)$/.test(
          word,
        ),
      )
        ? ask('changes what runs elsewhere')
        : undefined;
    }
    if (/^(kubectl|oc|helm|k|microk8s|k3s)$/.test(name)) {
      const isTried = args.some((word) => /^--dry-run(=(client|server))?$/.test(word));
      return !isTried &&
        words.slice(0, CLUSTER_WORDS).some((word, at) => isClusterChange(word, words[at + 1]))
        ? ask('changes what runs elsewhere')
        : undefined;
    }
    if (deletesInQueue(name, args)) return ask('changes what runs or is kept elsewhere');
    if (/^(vercel|now|netlify|surge|railway)$/.test(name)) {
      const deploys =
        words.length === 0 ||
        args.some((word) => /^(--prod|deploy|up|promote|redeploy)$/.test(word));
      if (deploys && !args.some((word) => /^(--help|--version|-v|-h)$/.test(word))) {
        return ask('changes what runs or is kept elsewhere');
      }
    }
    if (!CLOUDS.test(name)) return undefined;
    const loses =
      words.some((word) => LOSES.test(word)) ||
      args.some((word) => MIRRORS[name]?.test(word)) ||
      (name === 'rclone' && SYNCS.test(words[0] ?? ''));
    return loses && !args.some((word) => /^(--dry-?run|--dryrun)$/.test(word))
      ? ask('changes what runs or is kept elsewhere')
      : undefined;
  },
};

/** Whether a copy removes files on another machine. */
function mirrors(args: readonly string[], words: readonly string[]): boolean {
  if (args.some((word) => /^(-[a-zA-Z]*n[a-zA-Z]*|--dry-run)$/.test(word))) return false;
  const removes = args.some((word) =>
    /^--(del|remove-source|ignore-existing-delete|mirror|force-delete)/.test(word),
  );
  const text = args.join(' ');
  const isElsewhere = words.some((word) => /^(?:[^/:]+:|rsync:\/\/|[^/]*::)/.test(word));
  return (removes && isElsewhere) || /\bmirror\b.*--delete|\brm\b|\bmrm\b/.test(text);
}
