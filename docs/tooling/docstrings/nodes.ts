/** A node of the parser. Its other fields are read by `field` and `list`. */
export interface Node {
  type: string;
  start: number;
  end: number;
}

/** The node in a field; `undefined` where the node has none there. */
export function field(node: Node | undefined, name: string): Node | undefined {
  const value: unknown = node === undefined ? undefined : Reflect.get(node, name);
  return isNode(value) ? value : undefined;
}

/** The nodes in a field; empty where the node has none there. */
export function list(node: Node, name: string): Node[] {
  const value: unknown = Reflect.get(node, name);
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** The name of an identifier. */
export function nameOf(node: Node | undefined): string | undefined {
  const name: unknown = node === undefined ? undefined : Reflect.get(node, 'name');
  return typeof name === 'string' ? name : undefined;
}

/** The first argument of each `throw new …Error('CODE', …)`, without those of inner functions. */
export function* codesThrown(node: Node): Generator<string> {
  if (node.type === 'ThrowStatement') {
    const error = field(node, 'argument');
    const [code] = error?.type === 'NewExpression' ? list(error, 'arguments') : [];
    const value: unknown = Object(code).value;
    if (typeof value === 'string' && /^[A-Z]+(?:_[A-Z]+)+$/.test(value)) yield value;
  }
  if (node.type.includes('Function')) return;
  for (const child of Object.values(node).flat()) if (isNode(child)) yield* codesThrown(child);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}
