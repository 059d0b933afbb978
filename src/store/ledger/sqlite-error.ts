import { codeOf, messageOf, PakratError } from '../../core/errors.ts';
import { fullError } from '../../files/durable.ts';

/** Turns an error of SQLite, or of loading it, into one of ours; any other comes back as it is. @param path names the database */
export function sqliteError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === 'ERR_DLOPEN_FAILED' || messageOf(error).startsWith('Could not locate the bindings file')) {
    return nativeModuleError(error);
  }
  if (!code?.startsWith('SQLITE_')) return error;
  const options = { cause: error, data: { path, sqlite: code } };
  if (code === 'SQLITE_FULL') return fullError(path, error);
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return new PakratError('E_STORE_DAMAGED', `${path} is damaged or not a ledger: ${messageOf(error)}`, {
      ...options,
      hint: 'Move ledger.db away and sync again; objects that are on disk are checked and taken over.',
    });
  }
  if (code.startsWith('SQLITE_BUSY')) {
    return new PakratError('E_STORE_LOCKED', `another process is writing to ${path}`, options);
  }
  if (code.startsWith('SQLITE_READONLY')) {
    return new PakratError('E_STORE', `no permission to write ${path}`, {
      ...options,
      hint: 'A store that may not be written can be read with --offline.',
    });
  }
  return new PakratError('E_STORE', `${path}: ${messageOf(error)}`, options);
}

/** SQLite is a native module: one file for each system and each version of Node's or Electron's add-on interface. */
function nativeModuleError(cause: unknown): PakratError {
  const { platform, arch, versions } = process;
  return new PakratError(
    'E_NATIVE_MODULE',
    `better-sqlite3 cannot be loaded: it is not built for ${platform} ${arch} with add-on interface ${versions.modules}`,
    {
      cause,
      hint: 'Run `npm rebuild better-sqlite3` where pakrat is installed; in Electron run `@electron/rebuild`, in NW.js rebuild it with `nw-gyp`.',
      data: { platform, arch, modules: versions.modules, reason: messageOf(cause) },
    },
  );
}
