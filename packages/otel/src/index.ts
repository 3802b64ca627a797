export { CONVENTIONS_VERSION } from './conventions.js';
export type { StepUsage, TurnFacts } from './instruments.js';
export { createTelemetry, type Telemetry, type TelemetryOptions } from './telemetry.js';
export type { TurnEvent } from './trace-turn.js';
