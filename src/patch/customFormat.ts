// What the language server and the editor need of the custom format beyond its conversion.
export { type BlockParts, type BlockReading, type Field } from './custom/blockParts';
export {
  openFile,
  planCustom,
  type BlockPlan,
  type CustomOptions,
  type PlanPart,
} from './custom/customEdits';
export { type CustomFile } from './custom/customFile';
export { spanPattern } from './custom/marks';
export { checkBlocks } from './custom/parseCustom';
export { readBlocks, readBlocksOfLines, type BlocksRead } from './custom/readBlocks';
export { writeCustom } from './custom/writeCustom';
