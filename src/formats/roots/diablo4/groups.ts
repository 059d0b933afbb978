import { type AssetGroup, parseAssetGroups } from '../sno/asset-groups.ts';

/** Groups by their numbers, as `number folder extension`; those whose extension nobody knows get their number for one. New seasons bring more. */
const groups = parseAssetGroups(
  `
  1 Actor acr, 2 NPCComponentSet npc, 3 AIBehavior aib, 4 AIState ais, 5 AmbientSound ams, 6 Anim ani, 7 Anim2D an2, 8 AnimSet ans,
  9 Appearance app, 10 Hero hro, 11 Cloth clt, 12 Conversation cnv, 13 ConversationList cnl, 14 EffectGroup efg, 15 Encounter enc,
  17 Explosion xpl, 18 FlagSet flg, 19 Font fnt, 20 GameBalance gam, 21 Global glo, 22 LevelArea lvl, 23 Light lit, 24 MarkerSet mrk,
  26 Observer obs, 27 Particle prt, 28 Physics phy, 29 Power pow, 31 Quest qst, 32 Rope rop, 33 Scene scn, 35 Script scr,
  36 ShaderMap shm, 37 Shader shd, 38 Shake shk, 39 SkillKit skl, 40 Sound snd, 42 StringList stl, 43 Surface srf, 44 Texture tex,
  45 Trail trl, 46 UI ui, 47 Weather wth, 48 World wrl, 49 Recipe rcp, 51 Condition cnd, 52 TreasureClass trs, 53 Account acc,
  57 Material mat, 59 Lore lor, 60 Reverb rev, 62 Music mus, 63 Tutorial tut, 67 AnimTree ant, 68 Vibration vib, 71 wWiseSoundBank wsb,
  72 Speaker spk, 73 Item itm, 74 PlayerClass pcl, 76 FogVolume fog, 77 Biome bio, 78 Wall wal, 79 SoundTable sdt, 80 Subzone sbz,
  81 MaterialValue mtv, 82 MonsterFamily mfm, 83 TileSet tst, 84 Population pop, 85 MaterialValueSet mvs, 86 WorldState wst,
  87 Schedule sch, 88 VectorField vfd, 90 Storyboard stb, 92 Territory ter, 93 AudioContext auc, 94 VOProcess vop, 95 DemonScroll dss,
  96 QuestChain qc, 97 LoudnessPreset lou, 98 ItemType itt, 99 Achievement ach, 100 Crafter crf, 101 HoudiniParticlesSim hps,
  102 Movie vid, 103 TiledStyle tsl, 104 Affix aff, 105 Reputation rep, 106 ParagonNode pgn, 107 MonsterAffix maf, 108 ParagonBoard pbd,
  109 SetItemBonus set, 110 StoreProduct prd, 111 ParagonGlyph gph, 112 ParagonGlyphAffix gaf, 114 Challenge cha, 115 MarkingShape msh,
  116 ItemRequirement irq, 117 Boost bst, 118 Emote emo, 119 Jewelry jwl, 120 PlayerTitle pt, 121 Emblem emb, 122 Dye dye,
  123 FogOfWar fow, 124 ParagonThreshold pth, 125 AIAwareness aia, 126 TrackedReward trd, 127 CollisionSettings col, 128 Aspect asp,
  129 ABTest abt, 130 Stagger stg, 131 EyeColor eye, 132 Makeup mak, 133 MarkingColor mcl, 134 HairColor hcl, 135 DungeonAffix dax,
  136 Activity act, 137 Season sea, 138 HairStyle har, 139 FacialHair fhr, 140 Face fac, 141 MercenaryClass mrc,
  142 PassivePowerContainer ppc, 143 MountProfile mpp, 144 AICoordinator aic, 145 CrafterTab ctb, 146 TownPortalCosmetic tpc,
  147 AxeTest axe, 148 Wizard wiz, 149 FootstepTable fst, 150 Modal mdl, 151 CollectiblePower cpw, 152 AppearanceSet aps, 153 Preset pst,
  154 PreviewComposition pvc, 155 SpawnPool spn, 156 Raid rdx, 157 BattlePassTier snt, 158 Zone, 160 DeathKit, 161 Snippet,
  162 CommunityModifier, 163 GenericNodeGraph, 164 UserDefinedData, 165 DataStore, 166 BehaviorContainer, 167 ActorService,
  168 DamageRemap, 169 Vendor, 170 GenericSkillTree, 172 Crowd, 173 CrowdTemplates, 174 CrowdPlacements, 175 VisualRemap,
  176 PowerModifier, 177 UIDesignerNotification, 178 HoudiniDigitalAsset, 179 HoudiniDigitalAssetPreset, 180 Indicator, 181 Pip`,
  numbered,
);

/** The group of a number; a name made of the number for one that nobody knows. */
export function diablo4Group(number: number): AssetGroup {
  return groups.get(number) ?? { folder: numbered(number), extension: numbered(number) };
}

function numbered(number: number): string {
  return String(number).padStart(3, '0');
}
