import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { isDiskFull, PakratError, resultUnless } from '../core/errors.ts';
import { inStore, makeFolderDurable } from '../files/durable.ts';
import { isDeadMark, processMark } from '../files/temporary.ts';
import type { StoreLayout } from './layout.ts';

/*
 * Every process that has a store open for writing has a file in tmp/ that says on which machine it runs:
 *
 *   open-MACHINE-PID-START-HOST-THREAD-SERIAL     its content is the name of the host
 *
 * SQLite keeps its log in memory that the processes of one machine share: on a folder that two machines share it would be damaged. MACHINE is a
 * hash of what the kernel calls this run of its own, which containers have in common. The file is renewed now and then; one of another machine that is
 * old is that of a process that died. Ages are told by the clock of the folder's file system.
 */
const namePattern = /^open-([0-9a-f]{12})-(.+)$/;
const renewMs = 20_000;
const deadAfterMs = 60_000;

let serial = 0;

/** The presence of this process in a store. */
export interface Presence {
  close(): void;
}

/**
 * Says that this process has a store open.
 * @throws E_STORE_LOCKED with the name of another machine that has it open, E_STORE…
 */
export function announce({ temporary, root }: Pick<StoreLayout, 'temporary' | 'root'>): Presence {
  serial += 1;
  const own = join(temporary, `open-${machine()}-${processMark()}-${threadId}-${serial}`);
  if (!inStore(own, () => create(own, temporary))) return { close() {} };
  const other = otherMachine(own, temporary);
  if (other !== undefined) {
    fs.rmSync(own, { force: true });
    throw new PakratError('E_STORE_LOCKED', `the store ${root} is open on another machine, ${other}`, {
      hint: 'One machine at a time can work on a store. Wait for the other to end; one that broke down is forgotten after a minute.',
      data: { host: other },
    });
  }
  const timer = setInterval(() => renew(own), renewMs).unref();
  return {
    close() {
      clearInterval(timer);
      fs.rmSync(own, { force: true });
    },
  };
}

/** @returns false on a disk that has no room for it: whoever makes room must get in */
function create(own: string, temporary: string): boolean {
  makeFolderDurable(temporary);
  return (
    resultUnless(isDiskFull, () => {
      fs.writeFileSync(own, hostname());
      return true;
    }) ?? false
  );
}

/** The host of another machine that has a store open. Files of dead processes of this machine are removed. */
function otherMachine(own: string, temporary: string): string | undefined {
  const now = fs.statSync(own).mtimeMs;
  for (const name of fs.readdirSync(temporary)) {
    const [, of, mark = ''] = namePattern.exec(name) ?? [];
    if (of === undefined) continue;
    const file = join(temporary, name);
    const seen = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (seen === undefined) continue;
    const isOld = Math.abs(now - seen) > deadAfterMs;
    if (of !== machine() && !isOld) return readHost(file);
    // Of a container of this machine nobody can tell from here whether its process is dead, unless by the age of its mark.
    if (isOld || isDeadMark(mark)) fs.rmSync(file, { force: true });
  }
  return undefined;
}

function readHost(file: string): string {
  const text = resultUnless(
    () => true,
    () => fs.readFileSync(file, 'utf8'),
  );
  return /^[\w.-]{1,255}$/.test(text ?? '') ? String(text) : 'of unknown name';
}

function renew(own: string): void {
  try {
    // It may have been taken for dead: the process was stopped for a while.
    fs.writeFileSync(own, hostname());
  } catch {
    // The next time will do.
  }
}

let ownMachine: string | undefined;

function machine(): string {
  const boot = resultUnless(
    () => true,
    () => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'),
  );
  ownMachine ??= createHash('sha256')
    .update(boot ?? hostname())
    .digest('hex')
    .slice(0, 12);
  return ownMachine;
}
