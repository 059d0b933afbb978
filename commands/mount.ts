import { type MountReport, mount } from '../src/app/mount.ts';
import { PakratCommand } from '../src/cli/base-command.ts';
import { requiredArg, sourceArg } from '../src/cli/flags/args.ts';
import { pakFlags, pakOptions } from '../src/cli/flags/pak-flags.ts';

/** The FUSE library may wait for ever; output has this long to be written. */
const exitAfterMs = 200;

export default class Mount extends PakratCommand {
  static override summary = 'Show a source as a read-only file system, until Ctrl-C.';
  static override description =
    'Works with FUSE, on Linux and macOS, when the library fuse-native is installed. Only what is asked for is read. The first Ctrl-C (or SIGTERM, or fusermount -u) unmounts and ends it.';
  static override args = {
    source: sourceArg,
    dir: requiredArg('Where to; made when it is not there.'),
  };
  static override flags = { ...pakFlags };
  static override examples = [
    '<%= config.bin %> mount id1/pak0.pak /tmp/pak0',
    '<%= config.bin %> mount Game/Content/Paks /tmp/game --key @game.key',
    '<%= config.bin %> mount wow_classic_era@1.15.7.61582 /tmp/wow --offline',
  ];

  async run(): Promise<MountReport> {
    const { args, flags } = await this.parse(Mount);
    const onMounted = ({ folder, files }: MountReport): void =>
      this.note(`${files} files at ${folder}. Ctrl-C unmounts.`);
    const { stuck, ...report } = await this.withSession(flags, (session) =>
      mount(session, args.source, args.dir, { ...this.work(), pak: pakOptions(flags), onMounted }),
    );
    if (stuck) setTimeout(() => process.exit(), exitAfterMs).unref();
    return report;
  }
}
