// Paths are given by `make clients`. Without a dependency at run time: the fetch of the browser or of Node is used.
export default {
  input: "",
  output: { path: "", clean: true, module: { extension: ".js" } },
  plugins: [
    { name: "@hey-api/client-fetch", throwOnError: true },
    {
      name: "@hey-api/sdk",
      responseStyle: "data",
      operations: { strategy: "single", containerName: "Operations" },
    },
    { name: "@hey-api/typescript" },
  ],
};
