/** The bad ports of the fetch standard, section "port blocking". No rule opens them. */
const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
]);

/**
 * The ports of services that take an HTTP request for a command, or obey everybody who can connect:
 * databases, caches, queues, control of containers and clusters. Only a rule that names the port
 * opens it.
 */
const SERVICE_PORTS: ReadonlySet<number> = new Set([
  445, // SMB
  623, // IPMI
  873, // rsync
  1099, // Java RMI
  1433, // SQL Server
  1521, // Oracle
  1883, // MQTT
  2181, // ZooKeeper
  2375, // Docker
  2376, // Docker over TLS
  2379, // etcd
  2380, // etcd peers
  3306, // MySQL
  3389, // RDP
  4369, // Erlang port mapper
  5432, // PostgreSQL
  5672, // AMQP
  5900, // VNC
  5984, // CouchDB
  5985, // WinRM
  5986, // WinRM over TLS
  6379, // Redis
  6380, // Redis over TLS
  6443, // Kubernetes
  8500, // Consul
  9042, // Cassandra
  9092, // Kafka
  9200, // Elasticsearch
  9229, // Node inspector
  9300, // Elasticsearch transport
  10250, // kubelet
  10255, // kubelet, read-only
  11211, // memcached
  15672, // RabbitMQ management
  26379, // Redis sentinel
  27017, // MongoDB
  27018, // MongoDB shard
  27019, // MongoDB config server
]);

/**
 * Whether HTTP to a port is acceptable.
 *
 * @param port the port that is asked for, 0 to 65535
 * @param namedByRule whether the rule that allows the host names this very port
 */
export function isPortAllowed(port: number, namedByRule: boolean): boolean {
  return !BAD_PORTS.has(port) && (namedByRule || !SERVICE_PORTS.has(port));
}
