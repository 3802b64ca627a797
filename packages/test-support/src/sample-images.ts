import { crc32, deflateSync } from 'node:zlib';

/** A PNG of that size, of one colour, or of noise that can not be made smaller. */
export function samplePng(width: number, height: number, { isNoise = false } = {}): Buffer {
  const rows = Buffer.alloc((width * 3 + 1) * height);
  // The same noise in every run.
  let seed = 1;
  for (let at = 0; at < rows.length; at++) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    if (at % (width * 3 + 1) !== 0) rows[at] = isNoise ? seed >>> 24 : 120;
  }
  return pngOf(width, height, deflateSync(rows, { level: 1 }));
}

/** A PNG that says a size, whatever its data holds. */
export function pngOf(width: number, height: number, data: Uint8Array): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const end = pngChunk('IEND', Buffer.alloc(0));
  return Buffer.concat([signature, pngChunk('IHDR', header), pngChunk('IDAT', data), end]);
}

/** A part of a PNG, with its checksum. */
export function pngChunk(name: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const numbers = Buffer.alloc(8);
  numbers.writeUInt32BE(data.length, 0);
  numbers.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([numbers.subarray(0, 4), named, numbers.subarray(4)]);
}

/** Images of 3 by 2 pixels, as an encoder writes them. */
export const SAMPLE_IMAGES: Readonly<Record<string, { mediaType: string; bytes: Buffer }>> = {
  PNG: { mediaType: 'image/png', bytes: samplePng(3, 2) },
  JPEG: {
    mediaType: 'image/jpeg',
    bytes: Buffer.from(
      '/9j/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAACAAMDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAb/xAAbEAADAAIDAAAAAAAAAAAAAAAAAQIDBDNBYv/EABUBAQEAAAAAAAAAAAAAAAAAAAIF/8QAGhEAAgIDAAAAAAAAAAAAAAAAAAECAzEzcf/aAAwDAQACEQMRAD8Aldu6eZN0+OO/KABTp1R4gSyz/9k=',
      'base64',
    ),
  },
  'progressive JPEG': {
    mediaType: 'image/jpeg',
    bytes: Buffer.from(
      '/9j/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wgARCAACAAMDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAX/xAAVAQEBAAAAAAAAAAAAAAAAAAACBP/aAAwDAQACEAMQAAABlCk//8QAFRABAQAAAAAAAAAAAAAAAAAAAjH/2gAIAQEAAQUCV//EABURAQEAAAAAAAAAAAAAAAAAAAAB/9oACAEDAQE/Aa//xAAXEQADAQAAAAAAAAAAAAAAAAAAAQIy/9oACAECAQE/AYyj/8QAFRABAQAAAAAAAAAAAAAAAAAAAIH/2gAIAQEABj8Cj//EABcQAAMBAAAAAAAAAAAAAAAAAAABQbH/2gAIAQEAAT8hd3GH/9oADAMBAAIAAwAAABAP/8QAFhEAAwAAAAAAAAAAAAAAAAAAAAEx/9oACAEDAQE/EKZ//8QAFhEAAwAAAAAAAAAAAAAAAAAAAAGh/9oACAECAQE/EIkf/8QAFxABAAMAAAAAAAAAAAAAAAAAAQBhcf/aAAgBAQABPxBwVa0n/9k=',
      'base64',
    ),
  },
  GIF: {
    mediaType: 'image/gif',
    bytes: Buffer.from(
      'R0lGODlhAwACAIIAAExpcQkJCQD/AMhkMv8AAAAA/wECAwAAACH5BAUAAAAALAAAAAADAAIAAAMESFIxlgA7',
      'base64',
    ),
  },
  'animated GIF': {
    mediaType: 'image/gif',
    bytes: Buffer.from(
      'R0lGODlhAwACAIIAAExpcQkJCQD/AMhkMv8AAAAA/wECAwAAACH/C05FVFNDQVBFMi4wAwEAAAAh+QQFCgAAACwAAAAAAwACAAADBEhSMZYAIfkEBQoAAAAsAAAAAAMAAgCCTGlxCQkJAP8AAwIB/wAAMmTIAAD/AAAAAwQ4FSSWADs=',
      'base64',
    ),
  },
  WebP: {
    mediaType: 'image/webp',
    bytes: Buffer.from(
      'UklGRlgAAABXRUJQVlA4IEwAAAAwAgCdASoDAAIAAUAmJagCdEcAZIAC3TOg4AD+/XfEZJJ/E//wqZI8IHZH4Sv/iY/8etn/1N//+Js/pj/x62f/U3/P0Z0wLK48IYAA',
      'base64',
    ),
  },
  'lossless WebP': {
    mediaType: 'image/webp',
    bytes: Buffer.from(
      'UklGRkYAAABXRUJQVlA4TDoAAAAvAkAAAC+goG0U6F4QiX8d2CCTtim96t/QpE1B2zZMP5fxB7j5D/Af4kHaNrcDAgHKWPHANhH9j/EC',
      'base64',
    ),
  },
  'animated WebP': {
    mediaType: 'image/webp',
    bytes: Buffer.from(
      'UklGRuQAAABXRUJQVlA4WAoAAAACAAAAAgAAAQAAQU5JTQYAAAD/////AABBTk1GWgAAAAAAAAAAAAIAAAEAAGQAAAJWUDggQgAAANABAJ0BKgMAAgABQCYloAJ0AQ7+A44AAP79Kb9i2/V//4VMJY8RTfJlO35//Jv/rb9eZTPz/+TfjEauGnf49ZsgAEFOTUZWAAAAAAAAAAAAAgAAAQAAZAAAAFZQOCA+AAAA1AEAnQEqAwACAAAAJiWoAnQBDvin9gAA/vsnvJZs8j/99JNB9anf8faC+v+h/RD+X2gvr/oX/4wmkjsAAAA=',
      'base64',
    ),
  },
};
