"""XLA's CPU back end as the scripts here use it.  Asked for before jax is imported.

What is compared is what programs mean, not how well XLA compiles them: it compiles
quickly, without the emitters of fusions that are most of its time.  What it makes without
them of some byte floats (f8e5m2fnuz, f8e4m3fnuz, f8e4m3b11fnuz) is wrong: SLOWER has them.
"""
import os

SLOWER = "--xla_cpu_use_fusion_emitters=true"


def use_devices(n, *more):
    """The first script that asks has what it asks for."""
    flags = os.environ.get("XLA_FLAGS", "")
    if "--xla_force_host_platform_device_count" in flags:
        return
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = " ".join([
        flags, "--xla_force_host_platform_device_count=%d" % n,
        "--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true",
        "--xla_cpu_use_fusion_emitters=false", *more])
