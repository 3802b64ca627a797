/** What is wrong with arguments, in words for the model; `undefined` if they are valid. */
export type SchemaCheck = (args: unknown) => string | undefined;

/** Makes the check of a JSON Schema. @throws for an invalid schema, or rejects */
export type CheckSchema = (
  schema: Readonly<Record<string, unknown>>,
) => SchemaCheck | Promise<SchemaCheck>;

/** Checks arguments against the plain schema of one tool. The check is created at its first use. */
export class SchemaGate {
  readonly #make: () => SchemaCheck | Promise<SchemaCheck>;
  #check: SchemaCheck | Promise<SchemaCheck> | undefined;

  constructor(schema: Readonly<Record<string, unknown>>, check: CheckSchema) {
    this.#make = () => check(schema);
  }

  /** @throws for an invalid schema, or rejects */
  get check(): SchemaCheck | Promise<SchemaCheck> {
    if (this.#check === undefined) {
      const made = this.#make();
      this.#check = made;
      if (made instanceof Promise) {
        made.then(
          (check) => {
            this.#check = check;
          },
          () => {},
        );
      }
    }
    return this.#check;
  }
}
