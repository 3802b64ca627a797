export { CONVENTIONS_VERSION } from './conventions.js';
export type { StepUsage } from './instruments.js';
export { createTelemetry, type Telemetry, type TelemetryOptions } from './telemetry.js';
export type { TurnEvent, TurnFacts } from './trace-turn.js';
