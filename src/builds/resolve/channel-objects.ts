import { join } from 'node:path';
import type { ChannelObjects } from '../../cdn/versions/channels.ts';
import { codeOf } from '../../core/errors.ts';
import { writeFileDurable } from '../../files/durable.ts';
import { readOwn } from '../../files/read-at.ts';
import type { StoreLayout } from '../../store/layout.ts';

/** The objects of channels that a store keeps: for ever, for builds are forgotten by the service in weeks. */
export function keptObjects({ channels, temporary }: Pick<StoreLayout, 'channels' | 'temporary'>): ChannelObjects {
  const fileOf = (name: string): string => join(channels, name.slice(0, 2), name.slice(2, 4), name);
  return {
    read(name) {
      try {
        return readOwn(fileOf(name));
      } catch {
        return undefined;
      }
    },
    add(name, bytes) {
      try {
        writeFileDurable(fileOf(name), bytes, temporary);
      } catch (error) {
        // A store that may only be read loses nothing but the memory of this object.
        const { cause } = error as { cause?: unknown };
        if (!['EROFS', 'EACCES', 'EPERM'].includes(codeOf(cause) ?? '')) throw error;
      }
    },
  };
}
