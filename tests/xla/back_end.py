"""XLA's CPU back end as the scripts here use it.  Asked for before jax is imported.

What is compared is what programs mean, not how well XLA compiles them: it compiles
quickly, which takes a quarter less time in all.
"""
import os


def use_devices(n, *more):
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = " ".join([
        os.environ.get("XLA_FLAGS", ""), "--xla_force_host_platform_device_count=%d" % n,
        "--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true", *more])
