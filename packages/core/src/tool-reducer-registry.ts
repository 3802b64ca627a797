import {
  EthosError,
  type ToolResultReducer,
  type ToolResultReducerRegistry,
} from '@ethosagent/types';

/** Holds one reducer for each tool. */
export class DefaultToolResultReducerRegistry implements ToolResultReducerRegistry {
  readonly #reducers = new Map<string, ToolResultReducer>();

  /** @throws `REDUCER_NAME_TAKEN`; unregister the other one first */
  register(reducer: ToolResultReducer): () => void {
    const { toolName } = reducer;
    if (this.#reducers.has(toolName)) {
      throw new EthosError(
        'REDUCER_NAME_TAKEN',
        `a reducer for ${toolName} is already registered; unregister it first`,
      );
    }
    this.#reducers.set(toolName, reducer);
    return () => {
      // Another owner may have registered a reducer since; it stays.
      if (this.#reducers.get(toolName) === reducer) this.#reducers.delete(toolName);
    };
  }

  get(toolName: string): ToolResultReducer | undefined {
    return this.#reducers.get(toolName);
  }
}
