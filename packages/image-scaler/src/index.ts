export { createImageScaler, type ImageScalerOptions } from './create-image-scaler.js';
