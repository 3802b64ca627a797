import { EthosError, type ImageScaler } from '@ethosagent/types';
import { importOptional } from './optional-packages.js';

/**
 * The image scaler: the host's own, or that of `@ethosagent/image-scaler` if the package is
 * installed.
 *
 * @param given `false` for none, whatever is installed
 * @throws `CONFIG_INVALID` for an invalid scaler, and for a package that can't be loaded
 */
export async function imageScalerOf(
  given: ImageScaler | false | undefined,
): Promise<ImageScaler | undefined> {
  if (given === false) return undefined;
  if (given !== undefined) {
    if (typeof Object(given).scale === 'function') return given;
    throw new EthosError('CONFIG_INVALID', 'imageScaler has no scale(); give a scaler, or false');
  }
  try {
    return (await importOptional('@ethosagent/image-scaler')).createImageScaler();
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw new EthosError(
      'CONFIG_INVALID',
      '@ethosagent/image-scaler can not be loaded; install it again, or set imageScaler to false',
      { cause },
    );
  }
}
