// What other rooms need of containers and images.
export {
  BuildContainer,
  type BuildPlace,
  CommandFailed,
  inContainer,
  labelLines,
} from './docker/build/buildContainer';
export { openBuildLog } from './docker/build/buildLog';
export { foreignUser } from './docker/build/confinement';
export { type DockerConnection, connect, engineProblem } from './docker/connection/connect';
export { refusedStatus } from './docker/connection/engineProblem';
export {
  builtFolder,
  builtPython,
  defaultFolder,
  environmentFolder,
  installCommand,
  prebuiltName,
  pythonsOf,
} from './docker/containerImage';
export { type DevContainerImage, devContainerFile, publishedImage } from './docker/devContainer';
export { type DockerSettings, dockerSettings } from './docker/dockerSettings';
export { parseImageName } from './docker/images/imageName';
export { type PresentImage, inspectImage } from './docker/images/inspectImage';
export { pullImage } from './docker/images/pull/pullImage';
export { ImageMissing, RegistryUnreachable } from './docker/images/pull/pullProblem';
export { pushImage } from './docker/images/pushImage';
export { imageLabels, labels, madeHere, purposeOf } from './docker/labels';
export { tryProgram } from './docker/sandbox/tryProgram';
