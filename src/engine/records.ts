// What the tracer records.
export { type Act, type ExecutionTrace, type TracedLine, emptyTrace } from './tracer/readTrace';
