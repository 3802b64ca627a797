export {
  type BullmqEngine,
  type BullmqEngineOptions,
  createBullmqEngine,
} from './bullmq-engine.js';
